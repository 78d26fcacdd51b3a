/**
 * The documentation page, whole without a network: swagger-ui-dist's two files from node_modules, an init file and
 * a page of ours, under a policy that lets nothing else in.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { AgentReachError } from '../../core/index.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import type { Reply } from '../reply.ts';

const TAG = 'service';
const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent-Reach API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/init.js"></script>
</body>
</html>
`;

// validatorUrl null: the page would otherwise send the document's address to a public service.
const INIT = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#swagger-ui', validatorUrl: null, deepLinking: true });
`;

const FILES: Readonly<Record<string, { readonly contentType: string; load(): string | Promise<Buffer> }>> = {
  'init.js': { contentType: 'text/javascript; charset=utf-8', load: () => INIT },
  'swagger-ui.css': { contentType: 'text/css; charset=utf-8', load: () => readAsset('swagger-ui.css') },
  'swagger-ui-bundle.js': {
    contentType: 'text/javascript; charset=utf-8',
    load: () => readAsset('swagger-ui-bundle.js'),
  },
};

const require = createRequire(import.meta.url);

function readAsset(name: string): Promise<Buffer> {
  return readFile(require.resolve(`swagger-ui-dist/${name}`));
}

export function docsEndpoints(): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/docs',
      operationId: 'readDocs',
      tag: TAG,
      access: 'open',
      summary: 'This documentation as a page',
      replies: { 200: { description: 'HTML.', contentType: 'text/html', example: '<!doctype html>' } },
      errors: [],
      handle: () => page('text/html; charset=utf-8', PAGE),
    }),
    endpoint({
      method: 'get',
      path: '/docs/{file}',
      operationId: 'readDocsFile',
      tag: TAG,
      access: 'open',
      summary: 'A script or style of the documentation page',
      params: z.strictObject({ file: z.string().max(64).meta({ example: 'init.js' }) }),
      replies: { 200: { description: 'The file.', contentType: 'text/javascript', example: 'SwaggerUIBundle({});' } },
      errors: ['AR_ERR_NOT_FOUND'],
      async handle({ params }) {
        const file = Object.hasOwn(FILES, params.file) ? FILES[params.file] : undefined;
        if (file === undefined) throw new AgentReachError('AR_ERR_NOT_FOUND');
        return page(file.contentType, await file.load());
      },
    }),
  ];
}

function page(contentType: string, body: string | Buffer): Reply {
  return {
    status: 200,
    body: typeof body === 'string' ? body : new Uint8Array(body),
    contentType,
    headers: { 'content-security-policy': POLICY, 'cache-control': 'no-cache' },
  };
}
