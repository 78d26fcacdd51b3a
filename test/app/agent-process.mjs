/**
 * An agent as a process of its own, which a test can kill or stop. Arguments: address of the service, agent id,
 * heartbeat interval. Answers /health, registers, beats as it is asked to, registers again when its lease is forgotten
 * and leaves when another start took over. Says each of these as a line.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, agentId, heartbeatIntervalMs] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);
const server = createServer((_request, response) => response.end('{"status":"healthy"}'));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const own = `http://127.0.0.1:${server.address().port}`;
const headers = { 'content-type': 'application/json' };

async function register() {
  const body = JSON.stringify({
    agentId,
    capabilities: ['weather.query.city'],
    transport: { type: 'http', endpoint: own, healthEndpoint: `${own}/health` },
    heartbeatIntervalMs: Number(heartbeatIntervalMs),
  });
  const response = await fetch(`${url}/v1/agents`, { method: 'POST', headers, body });
  const { leaseId, incarnation } = await response.json();
  say(`registered ${incarnation}`);
  return leaseId;
}

let leaseId = await register();
let waitMs = Number(heartbeatIntervalMs);
for (;;) {
  await sleep(waitMs);
  try {
    const body = JSON.stringify({ leaseId, load: { active: 0, queued: 0 } });
    const response = await fetch(`${url}/v1/agents/${agentId}/heartbeat`, { method: 'PUT', headers, body });
    const reply = await response.json();
    if (reply.code === 'AR_ERR_LEASE_FORGOTTEN') leaseId = await register();
    else if (reply.code === 'AR_ERR_STALE_LEASE') break;
    else waitMs = reply.nextHeartbeatMs ?? waitMs;
  } catch (error) {
    say(`unreachable ${error.message}`);
  }
}
say('taken over');
server.close();
server.closeAllConnections();
