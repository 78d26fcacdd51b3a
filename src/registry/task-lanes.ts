/** Runs the tasks of one key one after another, and of different keys side by side. Idle keys cost nothing. */
export class TaskLanes {
  readonly #tails = new Map<string, Promise<void>>();

  /** The outcome is the task's own; a task that fails does not keep the next from running. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const outcome = before === undefined ? task() : before.then(task);
    const settle = (): void => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    const tail: Promise<void> = outcome.then(settle, settle);
    this.#tails.set(key, tail);
    return outcome;
  }

  /** Resolves once every lane, also those opened meanwhile, is empty. */
  async drain(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
