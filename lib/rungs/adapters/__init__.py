"""The environments as other libraries take them."""
