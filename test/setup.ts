/** Every property test draws the same cases in every run; `FC_SEED` draws others, to hunt with. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_260_701) });
