export type { ApiKey } from './api-keys.ts';
export { createHttpApp, type HttpApp, type HttpOptions } from './app.ts';
export { type HttpServer, type ServerOptions, startHttpServer } from './server.ts';
export type {
  AgentDesk,
  CapabilityDirectory,
  FeedbackDesk,
  HttpCaller,
  HttpServices,
  MaybePromise,
  RuleBook,
} from './services.ts';
