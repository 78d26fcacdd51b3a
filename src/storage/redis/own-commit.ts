/**
 * A commit of this instance on its way. Its answer and its entry of the log come on two connections, in either order;
 * what follows on it must happen between the entries before and after it.
 */
export class OwnCommit {
  /** false: it was given up, and whoever finds it in the log takes it for one of another instance. */
  readonly taken: Promise<boolean>;
  readonly reached: Promise<void>;
  /** The first word counts. */
  answer!: (isTaken: boolean) => void;
  reach!: () => void;

  constructor() {
    this.taken = new Promise((resolve) => {
      this.answer = resolve;
    });
    this.reached = new Promise((resolve) => {
      this.reach = resolve;
    });
  }
}
