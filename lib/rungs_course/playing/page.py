"""The page to play on: a board, who plays, and what the agent thinks."""

import base64
import contextlib
import html
from collections.abc import Callable

import ipywidgets

from rungs._src.selfplay.agent import Agent
from rungs._src.selfplay.players import NetworkPlayer
from rungs.errors import ConfigurationError, RungsError
from rungs_course import agents
from rungs_course.analysis import Thoughts, think
from rungs_course.playing.board import Board
from rungs_course.playing.game import Game

SIMULATIONS = (0, 8, 32, 128, 512)
_SHOWN = 6  # candidate moves
_WIDE = ipywidgets.Layout(width="auto", max_width="100%")
_CHOSEN = ' class="chosen"'
_LABEL = {"description_width": "6.5rem"}


def play(known: dict[str, Callable[[], Agent]] | None = None) -> ipywidgets.VBox:
    """Shows a board to play on against an agent, and what it thinks.

    Args:
        known: what loads each agent by its name; by default `rungs_course.agents.known`.
    """
    return Page(agents.known() if known is None else known).widget


class Page:
    """The widgets, and the game that they are about.

    Args:
        known: what loads each agent by its name.

    Attributes:
        widget: all of it, to be shown.
        board: the board.
        game: the game that is played.
    """

    def __init__(self, known: dict[str, Callable[[], Agent]]):
        self._known = known
        self._loaded: dict[str, Agent] = {}
        self._agent = _dropdown("agent", list(known))
        counts = [("0: the policy alone", 0), *((f"{n} a move", n) for n in SIMULATIONS if n)]
        self._simulations = _dropdown("simulations", counts)
        self._simulations.value = 32
        self._policy = _dropdown("rule", [("Gumbel", "gumbel"), ("PUCT", "puct")])
        self._colour = _dropdown("you are", ["White", "Black"])
        self._typed = ipywidgets.Text(
            placeholder="or type it: e4, Nf3, O-O", description="your move", layout=_WIDE,
            style=_LABEL, continuous_update=False,
        )  # fmt: skip
        self.board = Board(layout=ipywidgets.Layout(width="100%"))
        self._status, self._thoughts, self._score, self._pgn = (ipywidgets.HTML() for _ in range(4))
        self._thoughts.add_class("thoughts")
        self._score.add_class("score")
        self.board.on_move(self._move)
        self._typed.observe(self._type, "value")
        self._colour.observe(lambda change: self.begin(), "value")
        # Where the agent before could not be loaded, it is the next one's turn.
        self._agent.observe(lambda change: self._go_on(), "value")
        self.widget = self._arranged()
        self.begin()

    def _arranged(self) -> ipywidgets.VBox:
        buttons = ipywidgets.Box(
            [
                _button("new game", self.begin),
                _button("take back", self._take_back),
                _button("flip", self._flip),
                _button("hint", self._hint),
            ],
            layout=ipywidgets.Layout(flex_flow="row wrap"),
        )
        left = ipywidgets.VBox([self._status, self.board, buttons])
        left.layout = ipywidgets.Layout(flex="1 1 20rem", max_width="36rem", min_width="0")
        right = ipywidgets.VBox(
            [self._agent, self._simulations, self._policy, self._colour, self._typed,
             self._thoughts, self._score, self._pgn]
        )  # fmt: skip
        right.layout = ipywidgets.Layout(flex="1 1 18rem", min_width="0", padding="0 0 0 0.5rem")
        page = ipywidgets.Box([left, right], layout=ipywidgets.Layout(flex_flow="row wrap"))
        page.add_class("rungs-play")
        return ipywidgets.VBox([page])

    def begin(self) -> None:
        """Begins a new game, with the colour that is chosen."""
        self.game = Game(self._colour.value == "White", self._agent.value)
        self.board.flipped = not self.game.white
        self._thoughts.value = ""
        self._go_on()

    def _move(self, text: str) -> None:
        """Plays the person's move, and has the agent reply."""
        try:
            self.game.play(text)
        except ConfigurationError as error:
            self._show(str(error))
        else:
            self._go_on()

    def _type(self, change) -> None:
        text, self._typed.value = change["new"].strip(), ""
        if not text:
            return
        if self.game.your_turn:
            self._move(text)
        else:
            self._show()

    def _go_on(self) -> None:
        """Shows the game, and has the agent move where it is its turn."""
        self._show()
        if self.game.end or self.game.your_turn:
            return
        if thoughts := self._think():
            self.game.play(thoughts.chosen.move.uci())
            self._thoughts.value = _thoughts_table(thoughts, "The agent played")
            self._show()

    def _think(self) -> Thoughts | None:
        """Returns what the agent thinks, or says why it can't be loaded."""
        self._status.value = _line("The agent thinks …")
        name = self._agent.value
        if name not in self._loaded:
            try:
                self._loaded[name] = self._known[name]()
            except RungsError as error:
                self._show(str(error))
                return None
        network = self._loaded[name].network
        player = NetworkPlayer(name, network, self._simulations.value, policy=self._policy.value)
        with contextlib.closing(player):
            return think(player, self.game.board)

    def _take_back(self) -> None:
        self.game.take_back()
        self._thoughts.value = ""
        self._go_on()  # as White the agent has the first move

    def _flip(self) -> None:
        self.board.flipped = not self.board.flipped

    def _hint(self) -> None:
        """Shows what the agent would play in the person's place."""
        if self.game.your_turn and (thoughts := self._think()):
            self._thoughts.value = _thoughts_table(thoughts, "In your place it would play")
            self._show()

    def _show(self, message: str = "") -> None:
        """Shows the game as it stands, with a message or else whose turn it is."""
        self.game.agent = self._agent.value
        self.board.show(self.game.board, self.game.your_turn)
        self._status.value = _line(message or self.game.status())
        lines = "<br>".join(map(html.escape, self.game.lines()))
        self._score.value = f"<b>Moves</b><br>{lines}" if lines else ""
        data = base64.b64encode(self.game.pgn().encode()).decode()
        self._pgn.value = (
            f'<a download="game.pgn" href="data:application/x-chess-pgn;base64,{data}">'
            "Save the game (PGN)</a>"
        )


def _dropdown(description: str, options: list) -> ipywidgets.Dropdown:
    return ipywidgets.Dropdown(options=options, description=description, layout=_WIDE, style=_LABEL)


def _button(name: str, do: Callable[[], None]) -> ipywidgets.Button:
    button = ipywidgets.Button(description=name, layout=ipywidgets.Layout(width="auto"))
    button.on_click(lambda _: do())
    return button


def _line(text: str) -> str:
    return f'<span role="status">{html.escape(text)}</span>'


def _thoughts_table(thoughts: Thoughts, what: str) -> str:
    """Writes what an agent thinks as a table."""
    rows = "".join(
        f"<tr{_CHOSEN if each is thoughts.chosen else ''}>"
        f"<td>{html.escape(each.san)}</td><td>{each.prior:.1%}</td><td>{each.visits or ''}</td>"
        f"<td>{'' if each.value is None else f'{each.value:+.2f}'}</td></tr>"
        for each in thoughts.candidates[:_SHOWN]
    )
    value = min(1.0, max(-1.0, thoughts.value))
    return (
        f"<p><b>{what} {html.escape(thoughts.chosen.san)}</b> ({thoughts.search}). It expects "
        f"<b>{value:+.2f}</b> (+1: it wins, -1: it loses).</p>"
        f'<meter min="-1" max="1" value="{value:.3f}">{value:+.2f}</meter>'
        "<table><tr><th>move</th><th>prior</th><th>visits</th><th>value</th></tr>"
        f"{rows}</table>"
    )
