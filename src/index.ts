/**
 * The public door: the client, the service inside a program of yours, and the errors that both speak of.
 *
 * @module
 * @example
 * import { ReachClient, compileConfig, startService } from 'agent-reach';
 *
 * const service = await startService(compileConfig({ http: { port: 0 } }));
 * const reach = new ReachClient({ baseUrl: service.url });
 * await reach.agents.register({
 *   agentId: 'weather-1',
 *   capabilities: [{ name: 'weather.query.city', description: '查询一个城市的天气预报' }],
 *   transport: { type: 'http', endpoint: 'http://127.0.0.1:9001' },
 * });
 * const { decision, agent } = await reach.route({ intent: 'will it rain in Hangzhou tomorrow' });
 * await service.stop();
 */
export {
  type Config,
  type ConfigInput,
  compileConfig,
  loadConfig,
  type RunningService,
  startService,
} from './app/index.ts';
export type {
  AgentView,
  CapabilityInput,
  CapabilityView,
  Heartbeat,
  HeartbeatReply,
  Problem,
  Registration,
  RegistrationReply,
  RouteReply,
  RouteRequest,
  Rule,
} from './contract/index.ts';
export { AgentReachError, ERRORS, type ErrorCode, isAgentReachError } from './core/index.ts';
export * from './sdk/index.ts';
