"""Faults in adapters, in a peer's ids, in the registry, and in the chain of notebooks."""

from tests.mutants.mutant import Mutant

SB3 = ("tests/adapters/test_sb3.py",)
PETTINGZOO = ("tests/adapters/test_pettingzoo.py",)
OPEN_SPIEL = ("tests/peers/test_open_spiel.py",)
GOES_ON = (
    "tests/course/test_chain.py::test_the_chain_goes_on_past_what_is_unavailable"
    "_stops_at_a_failure_and_resumes_there"
)

MUTANTS = [
    Mutant(
        "sb3-outputs-overwritten",
        "lib/rungs/adapters/sb3.py",
        "(on_host(each).copy() for each in outputs)",
        "(on_host(each) for each in outputs)",
        "what Stable-Baselines3 keeps is overwritten by the next step",
        ("tests/adapters/test_sb3.py::test_outputs_are_the_callers_to_keep",),
    ),
    Mutant(
        "sb3-truncated-is-terminated",
        "lib/rungs/adapters/sb3.py",
        '"TimeLimit.truncated": bool(truncated[i] and not terminated[i]),',
        '"TimeLimit.truncated": bool(terminated[i]),',
        "Stable-Baselines3 takes a truncated episode for one that is over",
        ("tests/adapters/test_sb3.py::test_it_is_the_environment",),
    ),
    Mutant(
        "sb3-terminal-of-another",
        "lib/rungs/adapters/sb3.py",
        'on_host(self._info["final_obs"][i]).copy()',
        "observation[i]",
        "a terminal observation is the next episode's first",
        ("tests/adapters/test_sb3.py::test_it_is_the_environment",),
    ),
    Mutant(
        "sb3-seed-ignored",
        "lib/rungs/adapters/sb3.py",
        "self.env.reset(seed=self._seeds[0], options=options)",
        "self.env.reset()",
        "a seed does not begin the same games again",
        ("tests/adapters/test_sb3.py::test_seed_begins_the_same_games_again",),
    ),
    Mutant(
        "pettingzoo-both-win",
        "lib/rungs/adapters/pettingzoo.py",
        "other: 0 - float(reward[0])}",
        "other: float(reward[0])}",
        "who is mated is rewarded too",
        ("tests/adapters/test_pettingzoo.py::test_who_mates_wins",),
    ),
    Mutant(
        "pettingzoo-same-agent",
        "lib/rungs/adapters/pettingzoo.py",
        "        self.agent_selection = other\n",
        "        self.agent_selection = agent\n",
        "the same agent is to move again",
        ("tests/adapters/test_pettingzoo.py::test_who_mates_wins",),
    ),
    Mutant(
        "pettingzoo-mask-for-all",
        "lib/rungs/adapters/pettingzoo.py",
        '        mask = np.zeros(NUM_ACTIONS, np.int8)\n        return {"observation": mirrored',
        '        mask = on_host(self._info["action_mask"][0]).astype(np.int8)\n'
        '        return {"observation": mirrored',
        "who is not to move has legal actions",
        ("tests/adapters/test_pettingzoo.py::test_masks_are_the_legal_actions_of_who_is_to_move",),
    ),
    Mutant(
        "pettingzoo-observation-overwritten",
        "lib/rungs/adapters/pettingzoo.py",
        'return {"observation": observation.copy(), "action_mask": mask}',
        'return {"observation": observation, "action_mask": mask}',
        "what an agent has seen is overwritten by the next step",
        ("tests/adapters/test_pettingzoo.py::test_what_an_agent_has_seen_stays",),
    ),
    Mutant(
        "openspiel-ways-in-another-order",
        "lib/rungs/peers/open_spiel.py",
        "_WAYS = (0, 1, -1)",
        "_WAYS = (0, -1, 1)",
        "OpenSpiel's promotions by captures go the other way",
        ("tests/peers/test_open_spiel.py::TestActionIds::test_legal_ones_are_the_same_moves",),
    ),
    Mutant(
        "openspiel-castling-swapped",
        "lib/rungs/peers/open_spiel.py",
        "(chess.Move(chess.E1, chess.C1), chess.Move(chess.E1, chess.G1))",
        "(chess.Move(chess.E1, chess.G1), chess.Move(chess.E1, chess.C1))",
        "OpenSpiel castles to the other side",
        ("tests/peers/test_open_spiel.py::TestActionIds::test_legal_ones_are_the_same_moves",),
    ),
    Mutant(
        "openspiel-opponents-colour",
        "lib/rungs/peers/open_spiel.py",
        "(self._numbers[boards] + self._episodes[boards]) % 2 == 1",
        "(self._numbers[boards] + self._episodes[boards]) % 2 == 0",
        "with OpenSpiel the agent has the other colour",
        ("tests/peers/test_open_spiel.py::test_reset_begins_next_episodes_where_asked",),
    ),
    Mutant(
        "openspiel-rights-of-black",
        "lib/rungs/peers/open_spiel.py",
        "(17, 16, 19, 18), (19, 18, 17, 16)",
        "(17, 16, 19, 18), (17, 16, 19, 18)",
        "with OpenSpiel Black sees White's rights to castle as its own",
        ("tests/peers/test_open_spiel.py::test_open_spiel_is_cpp",),
    ),
    Mutant(
        "cartpole-registered-as-chess",
        "lib/rungs/registry.py",
        'vector_entry_point="rungs.registry:make_cartpole"',
        'vector_entry_point="rungs.registry:make_chess"',
        "Gymnasium is given chess for CartPole",
        ("tests/test_gymnasium.py::test_cartpole_is_registered_too",),
    ),
    Mutant(
        "unknown-rung-is-the-first",
        "lib/rungs/registry.py",
        "chosen = rungs[rung]",
        "chosen = next(iter(rungs.values()))",
        "whatever rung is asked for, the slowest is made",
        ("tests/chess/test_errors.py::test_the_rung_is_the_one_asked_for",),
    ),
    Mutant(
        "memory-off-the-line",
        "lib/rungs/core/memory.py",
        "start = -memory.ctypes.data % CACHE_LINE",
        "start = (8 - memory.ctypes.data) % CACHE_LINE",
        "arrays do not begin on cache lines",
        ("tests/core/test_memory.py",),
    ),
    Mutant(
        "done-notebook-again",
        "lib/rungs/course/chain.py",
        'if entry["status"] == "done":',
        'if entry["status"] == "over":',
        "a run that goes on runs what was done again",
        (GOES_ON,),
    ),
    Mutant(
        "changed-sources-accepted",
        "lib/rungs/course/chain.py",
        "    manifests.check_unchanged(manifest, chosen)\n",
        "",
        "a run goes on with other sources than it began with",
        (GOES_ON,),
    ),
    Mutant(
        "new-sources-unseen",
        "lib/rungs/course/manifest.py",
        "for name in before | after if before.get(name) != after.get(name)",
        "for name in before.keys() & after.keys() if before[name] != after[name]",
        "a source that came or went since a run began is not noticed",
        ("tests/course/test_chain.py::test_sources_that_came_or_went_are_changed_ones",),
    ),
    Mutant(
        "somebodys-folder-cleared",
        "lib/rungs/core/folder.py",
        "            _check_nothing_is_there(path, kind, names if refused is None else refused)\n",
        "            pass\n",
        "a folder that holds no run is cleared for one",
        ("tests/course/test_chain.py::test_a_folder_that_holds_no_run_is_not_cleared",),
    ),
    Mutant(
        "unavailable-is-a-failure",
        "lib/rungs/course/notebook.py",
        'if getattr(error, "ename", None) == UnavailableError.__name__:',
        'if getattr(error, "ename", None) == "Unavailable":',
        "a notebook that lacks something stops the chain",
        (GOES_ON,),
    ),
    Mutant(
        "half-a-file",
        "lib/rungs/core/atomic.py",
        "        with tempfile.TemporaryDirectory(dir=path.parent, prefix=UNFINISHED) as folder:\n"
        "            unfinished = Path(folder) / path.name\n"
        "            yield unfinished\n"
        "            os.replace(unfinished, path)\n",
        "        yield path\n",
        "a file is there by half where writing it failed",
        ("tests/core/test_atomic.py",),
    ),
    Mutant(
        "changed-headers-unseen",
        "lib/rungs/compile/cling.py",
        "if version != _loaded:",
        "if False:",
        "what was compiled before its headers were edited is used without a word",
        ("tests/compile/test_cling.py::test_headers_changed_since_they_were_loaded",),
    ),
]
