/**
 * One endpoint as data: what the OpenAPI document says of it and what runs are the same object, so neither can
 * drift. The order of a request is in endpoint-runner.ts.
 */
import { z } from 'zod';
import type { ErrorCode } from '../core/index.ts';
import type { Access, ReadHeader } from './api-keys.ts';
import type { Reply } from './reply.ts';
import { readQuery } from './request-input.ts';
import { parseWith } from './schema-issues.ts';
import type { HttpCaller } from './services.ts';

export interface ReplyDoc {
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Default application/json. */
  readonly contentType?: string;
  /** Beside X-Request-Id, which every answer carries. */
  readonly headers?: readonly HeaderDoc[];
  /** A second form, chosen by the caller's Accept. */
  readonly stream?: { readonly contentType: string; readonly example: string };
}

export interface BodyDoc<Schema extends z.ZodType> {
  readonly schema: Schema;
  readonly example: unknown;
  /** Turns older spellings into today's before the schema sees them. */
  readonly readOlder?: (json: unknown) => unknown;
  /** What no body means; absent: a body is needed. */
  readonly emptyValue?: unknown;
  /** Where more than the service's own limit must fit. */
  readonly limitBytes?: number;
}

export interface HeaderDoc {
  readonly name: string;
  readonly description: string;
  readonly example: string;
}

export interface EndpointDoc {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** OpenAPI style: `/v1/agents/{agentId}`. Also the `route` label of metrics. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** A function where the caller's role shows in a header. */
  readonly access: Access | ((header: ReadHeader) => Access);
  readonly headers?: readonly HeaderDoc[];
  readonly replies: Readonly<Record<number, ReplyDoc>>;
  /** Codes beyond those that every endpoint can answer. */
  readonly errors: readonly ErrorCode[];
  /** Goes on answering while the service stops. */
  readonly answersWhileStopping?: true;
}

export interface Exchange<Body, Query, Params> {
  readonly body: Body;
  /** The JSON as sent, before `readOlder`. */
  readonly sentBody: unknown;
  readonly query: Query;
  readonly params: Params;
  readonly caller: HttpCaller;
  readonly header: ReadHeader;
}

export interface EndpointSpec<Body extends z.ZodType, Query extends z.ZodObject, Params extends z.ZodObject>
  extends EndpointDoc {
  readonly body?: BodyDoc<Body>;
  readonly query?: Query;
  readonly params?: Params;
  handle(exchange: Exchange<z.output<Body>, z.output<Query>, z.output<Params>>): Reply | Promise<Reply>;
}

/** What the runner has read of the request. */
export interface RawExchange {
  readonly url: string;
  readonly sentBody: unknown;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: HttpCaller;
  readonly header: ReadHeader;
}

export interface Endpoint extends EndpointDoc {
  readonly body?: BodyDoc<z.ZodType>;
  readonly query?: z.ZodObject;
  readonly params?: z.ZodObject;
  answer(raw: RawExchange): Reply | Promise<Reply>;
}

export function endpoint<Body extends z.ZodType, Query extends z.ZodObject, Params extends z.ZodObject>(
  spec: EndpointSpec<Body, Query, Params>,
): Endpoint {
  const { handle, ...doc } = spec;
  const { body, query, params } = spec;
  return {
    ...doc,
    answer(raw) {
      const sentQuery = raw.url.includes('?') || query !== undefined ? readQuery(raw.url) : NO_QUERY;
      return handle({
        // An endpoint without one of the three never looks at it: its type is `unknown` there.
        params: (params === undefined ? raw.params : parseWith(params, raw.params, 'path')) as z.output<Params>,
        query: (query === undefined ? refuseQuery(sentQuery) : parseWith(query, sentQuery, 'query')) as z.output<Query>,
        body: (body === undefined ? undefined : parseBody(body, raw.sentBody)) as z.output<Body>,
        sentBody: raw.sentBody,
        caller: raw.caller,
        header: raw.header,
      });
    },
  };
}

const NOTHING = z.strictObject({});
const NO_QUERY: Readonly<Record<string, string>> = {};

function parseBody<Schema extends z.ZodType>(body: BodyDoc<Schema>, sent: unknown): z.output<Schema> {
  return parseWith(body.schema, body.readOlder === undefined ? sent : body.readOlder(sent));
}

function refuseQuery(sent: Readonly<Record<string, string>>): undefined {
  if (sent !== NO_QUERY) parseWith(NOTHING, sent, 'query');
  return undefined;
}
