import { AgentReachError, errorText, spawnWorker } from '../core/index.ts';
import type { VerifyJob, VerifyMessage, VerifyProgress, VersionFindings } from './version-verifier-worker.ts';

export type { VerifyProgress, VersionFindings } from './version-verifier-worker.ts';

/**
 * Reads a version of `<dir>/versions` again and tries it, in a thread of its own. Errors: AR_ERR_INDEX_CORRUPT when
 * it does not hold, AR_ERR_NOT_FOUND, AR_ERR_INTERNAL for a crash.
 */
export function verifyVersion(
  job: VerifyJob,
  onProgress: (progress: VerifyProgress) => void = () => {},
): Promise<VersionFindings> {
  return new Promise((resolve, reject) => {
    const worker = spawnWorker('./version-verifier-worker', import.meta.url, { workerData: job });
    let findings: VersionFindings | undefined;
    let failure: AgentReachError | undefined;
    worker.on('message', (message: VerifyMessage) => {
      if (message.type === 'progress') onProgress(message.progress);
      else if (message.type === 'done') findings = message.findings;
      else failure = new AgentReachError(message.code, { detail: message.detail });
    });
    worker.once('error', (cause) => {
      failure = new AgentReachError('AR_ERR_INTERNAL', { detail: errorText(cause), cause });
    });
    worker.once('exit', (exitCode) => {
      if (findings !== undefined) return resolve(findings);
      const detail = `The index verifier thread ended with code ${exitCode}.`;
      reject(failure ?? new AgentReachError('AR_ERR_INTERNAL', { detail }));
    });
  });
}
