"""What one notebook measures and draws and is too long for its page, by the notebook's number."""
