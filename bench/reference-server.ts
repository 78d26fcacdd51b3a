/** What the service is compared with: a bare Hono route, the same zod body, a reply of the same bytes. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { routeRequestSchema } from '../src/contract/index.ts';

const app = new Hono();
const reply = process.argv[2] ?? '{}';

app.post('/v1/route', async (c) => {
  const parsed = routeRequestSchema.safeParse(await c.req.json());
  if (!parsed.success) return c.json({ error: 'bad' }, 400);
  return c.body(reply, 200, { 'content-type': 'application/json' });
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
