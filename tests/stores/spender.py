"""A host that spends a shared budget with many threads, as fast as it can; prints how much it was
allowed to."""

import sys
import threading

from stanchion import Shield


def spend(store: str, task: str, limit: int, threads: int) -> int:
    """Spend one token at a time until nothing more is allowed; gives how many went ahead."""
    policy = {"name": "shared", "guards": [{"use": "budget", "tokens": limit, "per": "task"}]}
    went: list[int] = []
    with Shield.load(policy, tenant="spenders", store=store, journal="memory:") as shield:

        def work() -> None:
            run = shield.run("spender", task)
            number = 0
            while run.check("spend", {"n": number}, tokens=1).proceeds:
                number += 1
            went.append(number)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return sum(went)


if __name__ == "__main__":
    print(spend(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
