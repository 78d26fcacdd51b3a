/**
 * In-process publish and subscribe. `publish` calls every listener before it returns, in order of subscription; a
 * listener that throws is logged and never keeps the others from hearing. No buffer: who comes late hears nothing.
 */
import { errorText, log } from '../core/index.ts';
import type { RegistryEvent } from './registry-event.ts';

export type EventListener = (event: RegistryEvent) => void;

export class EventBus {
  /** Replaced, never changed, so that a listener may come or go while an event is being told. */
  #listeners: readonly { readonly listener: EventListener }[] = [];

  /** Listens until the returned function is called; calling it twice does nothing more. */
  subscribe(listener: EventListener): () => void {
    const entry = { listener };
    this.#listeners = [...this.#listeners, entry];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== entry);
    };
  }

  publish(event: RegistryEvent): void {
    for (const { listener } of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        log('error', 'an event listener threw; the others were still told', {
          type: event.type,
          reason: errorText(error),
        });
      }
    }
  }
}
