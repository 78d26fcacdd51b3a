import { type CapabilityView, MAX_BATCH_EXPLAINS, type RouteReply } from '../../contract/index.ts';

export interface SourceRequest {
  readonly intent: string;
  readonly namespace: string;
  readonly topK?: number;
  readonly minRelevance?: number;
  readonly explain?: boolean;
}

/** What is evaluated: a running service over its API, or one of this process. Errors are those of a route. */
export interface RouteSource {
  route(request: SourceRequest): Promise<RouteReply>;
  /** At most `MAX_BATCH`; replies in the order of the requests. */
  routeBatch(requests: readonly SourceRequest[]): Promise<readonly RouteReply[]>;
  /** All that is registered, of every namespace. */
  capabilities(): Promise<readonly CapabilityView[]>;
}

export type ReportProgress = (done: number, total: number, label: string) => void;

/** Requests sent together: enough for full batches of the model, few enough to leave room for others. */
const SENT_TOGETHER = 64;

export async function routeAll(
  source: RouteSource,
  requests: readonly SourceRequest[],
  onDone: (done: number) => void = () => {},
): Promise<RouteReply[]> {
  const replies: RouteReply[] = [];
  const together = requests.some(({ explain }) => explain === true) ? MAX_BATCH_EXPLAINS : SENT_TOGETHER;
  for (let at = 0; at < requests.length; at += together) {
    replies.push(...(await source.routeBatch(requests.slice(at, at + together))));
    onDone(replies.length);
  }
  return replies;
}

/** No relevance reaches it, so that a reply lists what was found, best first, instead of an agent. */
export const UNREACHABLE_RELEVANCE = 1;

/** Names in the order of their relevance; sensitive ones are never listed. */
export function rankedNames(reply: RouteReply): string[] {
  const names = new Set<string>();
  if (reply.capability !== null) names.add(reply.capability);
  for (const { capability } of reply.alternatives) names.add(capability);
  return [...names];
}
