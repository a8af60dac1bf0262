"""Choosing prompts and examples with DSPy. It makes the candidates; what they are worth is said by
the Tutor alone."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, Final

from stanchion.tutor.bundles.file import Bundle
from stanchion.tutor.envelope.prompts import prompt_of
from stanchion_lab.compiling.drafting import PARAMS, SYSTEM, candidate
from stanchion_lab.compiling.package import dspy as loaded
from stanchion_lab.compiling.parts import Position

OPTIMIZERS: Final = {"bootstrap": "BootstrapFewShotWithRandomSearch", "mipro": "MIPROv2"}
"""What DSPy calls them: the first chooses examples, the second instructions as well."""
NEEDS: Final = {"bootstrap": (), "mipro": ("optuna",)}
DEMOS: Final = 3
CANDIDATES: Final = 10
FIXED: Final = 3
"""How many candidates a random search tries beside those that it draws."""
SEED: Final = 9


Counted = Callable[[], None]
"""Hears of each reply that was judged."""


class ModelFailed(Exception):
    """The model could not be asked; the text says why."""


class Judge:
    """DSPy's metric. It looks at the reply alone, which is played through the Tutor where it was
    given: what the optimiser has traced is never looked at."""

    def __init__(self, places: Sequence[Position], counted: Counted) -> None:
        self._places, self._counted = places, counted
        self._known: dict[tuple[int, str], float] = {}

    def __call__(self, example: Any, prediction: Any, trace: Any = None) -> float | bool:
        """What a reply is worth; while examples are collected, whether it is one."""
        worth = self.value(int(example.place), str(prediction.reply))
        if trace is not None:
            return worth > 0
        self._counted()
        return worth

    def value(self, place: int, reply: str) -> float:
        """What a reply is worth in a place."""
        key = (place, reply)
        if key not in self._known:
            self._known[key] = self._places[place].value(reply)
        return self._known[key]


def language_model(name: str) -> Any:
    """A model by its name, as DSPy has it; nothing that it says is kept for later."""
    return loaded().LM(
        name, temperature=PARAMS.temperature, max_tokens=PARAMS.max_tokens, cache=False
    )


def ask(model: Any, prompt: str) -> str:
    """What a model says to a prompt; raises `ModelFailed`."""
    with quietly():
        try:
            said = model(prompt)
        except Exception as error:
            raise ModelFailed(_why(error)) from error
    first = said[0] if said else ""
    text = first.get("text") if isinstance(first, dict) else first
    return text if isinstance(text, str) else ""


def optimized(
    places: Sequence[Position],
    model: Any,
    optimizer: str,
    candidates: int,
    counted: Counted,
    proposer: Any = None,
) -> Bundle:
    """The best candidate that an optimiser finds. Its examples are replies that brought something,
    and it is chosen by its worth in all places. `proposer` is the model that proposes instructions,
    if it is another one. Raises `NoDSPy` and `ModelFailed`."""
    dspy = loaded(*NEEDS[optimizer])
    failures: list[Exception] = []
    student = _player(dspy, failures)
    every = [_example(dspy, number, place) for number, place in enumerate(places)]
    good = [example for example, place in zip(every, places, strict=True) if place.worth > 0]
    judge = Judge(places, counted)
    try:
        with quietly(), dspy.context(lm=model, max_errors=1):
            if optimizer == "bootstrap":
                chosen = _bootstrapped(dspy, judge, candidates, student, good, every)
            else:
                chosen = _proposed(dspy, judge, candidates, student, good, every, proposer)
    except Exception as error:
        if failures:
            raise ModelFailed(_why(failures[0])) from error
        raise
    if failures:
        raise ModelFailed(_why(failures[0]))
    return _bundle(chosen)


def _bootstrapped(
    dspy: Any, judge: Judge, candidates: int, student: Any, good: list[Any], every: list[Any]
) -> Any:
    search = dspy.BootstrapFewShotWithRandomSearch(
        metric=judge,
        max_bootstrapped_demos=DEMOS,
        max_labeled_demos=DEMOS,
        num_candidate_programs=candidates,
        num_threads=1,
        max_errors=1,
    )
    return search.compile(student, trainset=good, valset=every)


def _proposed(
    dspy: Any,
    judge: Judge,
    candidates: int,
    student: Any,
    good: list[Any],
    every: list[Any],
    proposer: Any,
) -> Any:
    search = dspy.MIPROv2(
        metric=judge,
        prompt_model=proposer,
        auto=None,
        num_candidates=candidates,
        max_bootstrapped_demos=DEMOS,
        max_labeled_demos=DEMOS,
        num_threads=1,
        max_errors=1,
        seed=SEED,
        init_temperature=PARAMS.temperature,
    )
    return search.compile(
        student,
        trainset=good,
        valset=every,
        num_trials=_trials(candidates),
        minibatch=False,
        program_aware_proposer=False,
        data_aware_proposer=False,
    )


def rounds(optimizer: str, candidates: int) -> int:
    """How often an optimiser goes through all places."""
    return candidates + FIXED if optimizer == "bootstrap" else _trials(candidates) + 1


def _trials(candidates: int) -> int:
    """How many combinations of instructions and examples are tried: as DSPy recommends for few
    candidates."""
    return max(4, candidates * 3 // 2)


def _example(dspy: Any, number: int, place: Position) -> Any:
    return dspy.Example(context=place.context, reply=place.reply, place=number).with_inputs(
        "context"
    )


def _player(dspy: Any, failures: list[Exception]) -> Any:
    """A program that replies as a player does. It is asked in the words in which the envelope will
    ask by the bundle, so that what is measured is what is frozen."""

    class Words(dspy.Adapter):
        def format(self, signature: Any, demos: Any, inputs: Any) -> list[dict[str, str]]:
            # an example does not answer the very situation that it is from: that would be learning
            # by heart
            others = [one for one in demos if one["context"] != inputs["context"]]
            bundle = candidate(signature.instructions, _shown(others))
            return [{"role": "user", "content": prompt_of(bundle, "", inputs["context"])}]

        def _call_postprocess(
            self, _processed: Any, _signature: Any, outputs: Any, *_more: Any
        ) -> list[Any]:
            # an empty reply is a bad move, and no failure
            texts = [one.get("text") if isinstance(one, dict) else one for one in outputs]
            return [{"reply": text if isinstance(text, str) else ""} for text in texts]

    class Player(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.reply = dspy.Predict(dspy.Signature("context -> reply", SYSTEM))

        def forward(self, context: str) -> Any:
            with dspy.context(adapter=Words()):
                try:
                    return self.reply(context=context)
                except Exception as error:
                    failures.append(error)
                    raise

    return Player()


def _bundle(program: Any) -> Bundle:
    (predictor,) = program.predictors()
    return candidate(predictor.signature.instructions, _shown(predictor.demos))


def _shown(demos: Any) -> list[tuple[str, str]]:
    """The examples of a program, each once."""
    return list(dict.fromkeys((str(one["context"]), str(one["reply"])) for one in demos))


@contextmanager
def quietly() -> Iterator[None]:
    """Keep what DSPy prints from whoever reads the output."""
    sink = io.StringIO()
    dspy = loaded()
    dspy.disable_logging()
    try:
        with redirect_stdout(sink), redirect_stderr(sink):
            yield
    finally:
        dspy.enable_logging()


def _why(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"the model could not be asked: {said[:300] if said else type(error).__name__}"
