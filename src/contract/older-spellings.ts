/**
 * The first two generations of field names: snake case for every field, `heartbeat_interval` in seconds, and
 * `endpoints {http, ws}`. Turned into today's names before the schema sees them; a field given in two spellings is
 * left under both names, so that the strict schema refuses it.
 */
const SNAKE_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    agent_id: 'agentId',
    agent_name: 'agentName',
    heartbeat_interval_ms: 'heartbeatIntervalMs',
    timeout_ms: 'timeoutMs',
    max_concurrency: 'maxConcurrency',
    expires_at: 'expiresAt',
    lease_id: 'leaseId',
    avg_latency_ms: 'avgLatencyMs',
    health_endpoint: 'healthEndpoint',
    input_schema: 'inputSchema',
  }),
);

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function renameFields(value: Json): Json {
  let renamed: Json | undefined;
  for (const key of Object.keys(value)) {
    const today = SNAKE_FIELDS.get(key);
    if (today === undefined || Object.hasOwn(value, today)) continue;
    renamed ??= { ...value };
    renamed[today] = renamed[key];
    delete renamed[key];
  }
  return renamed ?? value;
}

function foldInterval(value: Json): void {
  for (const key of ['heartbeat_interval', 'heartbeatInterval']) {
    const seconds = value[key];
    if (typeof seconds !== 'number' || Object.hasOwn(value, 'heartbeatIntervalMs')) continue;
    value.heartbeatIntervalMs = Math.round(seconds * 1_000);
    delete value[key];
  }
}

function foldEndpoints(value: Json): void {
  const endpoints = value.endpoints;
  if (!isObject(endpoints) || Object.hasOwn(value, 'transport')) return;
  const { http, ws, health, ...unknown } = endpoints;
  if (Object.keys(unknown).length > 0 || (http === undefined && ws === undefined)) return;
  const transport: Json = http === undefined ? { type: 'websocket', endpoint: ws } : { type: 'http', endpoint: http };
  if (health !== undefined) transport.healthEndpoint = health;
  value.transport = transport;
  delete value.endpoints;
}

export function readOlderRegistration(body: unknown): unknown {
  if (!isObject(body)) return body;
  const value = { ...renameFields(body) };
  foldInterval(value);
  foldEndpoints(value);
  if (isObject(value.transport)) value.transport = renameFields(value.transport);
  if (Array.isArray(value.capabilities)) {
    value.capabilities = value.capabilities.map((one: unknown) => (isObject(one) ? renameFields(one) : one));
  }
  return value;
}

export function readOlderHeartbeat(body: unknown): unknown {
  return isObject(body) ? renameFields(body) : body;
}
