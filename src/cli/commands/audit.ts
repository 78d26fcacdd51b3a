/** `agent-reach audit`: who reached a sensitive capability, and who was kept off. */
import { Option } from '@commander-js/extra-typings';
import type { AuditRecord } from '../../contract/index.ts';
import { type Program, runCommand, wholeNumber } from '../program.ts';

/** A copy of the contract's enum, so that the command starts without its schemas. */
export const AUDIT_OUTCOMES = ['reached', 'scope_required', 'near_miss'] as const;

export function addAuditCommand(program: Program): void {
  program
    .command('audit')
    .description('list decisions about sensitive capabilities, newest first')
    .option('--capability <name>', 'about this capability')
    .addOption(new Option('--outcome <outcome>', 'with this outcome').choices(AUDIT_OUTCOMES))
    .option('--limit <count>', 'at most so many', wholeNumber(1, 100_000), 50)
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async ({ output, client }) => {
        const { capability, outcome, limit } = options;
        const found: AuditRecord[] = [];
        const query = {
          limit: Math.min(limit, 500),
          ...(capability === undefined ? {} : { capability }),
          ...(outcome === undefined ? {} : { outcome }),
        };
        for await (const one of client.audit.all(query)) {
          found.push(one);
          if (found.length === limit) break;
        }
        output.answer(found, (rows) => {
          if (rows.length === 0) return output.line('no decisions about sensitive capabilities');
          return output.table(rows, [
            { head: 'SEQ', cell: ({ seq }) => seq, align: 'right' },
            { head: 'AT', cell: ({ at }) => at },
            { head: 'KEY', cell: ({ keyId }) => keyId },
            { head: 'CAPABILITY', cell: (one) => `${one.namespace}/${one.capability}` },
            { head: 'OUTCOME', cell: ({ outcome, probe }) => (probe === true ? `${outcome} (probe)` : outcome) },
            { head: 'BY', cell: ({ matchedBy, ruleId }) => ruleId ?? matchedBy ?? 'meaning' },
            { head: 'AGENT', cell: ({ agentId }) => agentId ?? '-' },
            {
              head: 'INTENT',
              cell: ({ intent, intentHash }) => intent ?? intentHash?.slice(0, 12) ?? '-',
              maxWidth: 60,
            },
          ]);
        });
        return undefined;
      });
    });
}
