/** `plinth doctor`: the server's own checks, and checks that only another machine can make. */
import type { Command } from 'commander';
import { codeOf, messageOf } from '../common/errors/error-facts';
import { PRODUCT } from '../config/product';
import { text as textOf } from 'node:stream/consumers';
import { AdminClient, dataOf, type Schema } from './admin-client';
import { CommandContext, inOneLine } from './command-context';
import { sendRequest } from './send-request';

type Finding = Omit<Schema<'FindingResponse'>, 'check'> & { readonly check: string };

/** Milliseconds by which the clocks of this machine and of the server may differ. */
const CLOCK_TOLERANCE_MS = 5_000;

const MARKS = { ok: 'ok     ', warning: 'WARNING', failed: 'FAILED ', skipped: 'skipped' } as const;

export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description('check the server and what it depends on; exit code 1 if a check fails')
    .option('--mail-to <address>', 'send a test mail to this address')
    .action(async ({ mailTo }: { mailTo?: string }) => {
      const findings = await examine(context.server, mailTo);
      context.print({ findings }, () => findings.map(linesOf).join(''));
      const failed = findings.filter(({ status }) => status === 'failed').length;
      if (failed > 0) context.reportFailure(failed === 1 ? '1 check failed' : `${failed} checks failed`);
    });
}

async function examine(server: AdminClient, mailTo: string | undefined): Promise<Finding[]> {
  const report = await dataOf(server.api.POST('/admin/v1/doctor', { body: { mail_to: mailTo } }));
  return [...report.findings, ...ownFindings(report), await findPublicUrl(server.publicUrl)];
}

function ownFindings({ version, now }: Schema<'DoctorReport'>): Finding[] {
  const found: Finding[] = [];
  if (version !== PRODUCT.version) {
    found.push({
      check: 'version',
      status: 'warning',
      message: `the command line is Plinth ${PRODUCT.version}, and the server is ${version}`,
      remedy: 'Restart the server after an upgrade, or use the command line of its version.',
    });
  }
  const difference = Math.abs(Date.now() - Date.parse(now));
  if (difference > CLOCK_TOLERANCE_MS) {
    found.push({
      check: 'clock',
      status: 'warning',
      message: `the clocks of this machine and of the server differ by ${Math.round(difference / 1000)} s`,
      remedy: 'Synchronise both with NTP (timedatectl set-ntp true).',
    });
  }
  return found;
}

async function findPublicUrl(url: string): Promise<Finding> {
  const found = (status: Finding['status'], message: string, remedy: string | null = null): Finding => ({
    check: 'public_url',
    status,
    message,
    remedy,
  });
  try {
    const response = await sendRequest(`${url}/health/live`, { method: 'GET' });
    const [status, text] = [response.statusCode, await textOf(response)];
    if (status === 200 && text.includes('"live"'))
      return found('ok', `${url} leads to Plinth, as seen from this machine`);
    return found(
      'failed',
      `${url}/health/live answers ${status}, but not as Plinth does`,
      'Set PUBLIC_URL to the URL that clients use, and let the proxy pass all paths on unchanged.',
    );
  } catch (error) {
    return found(
      'failed',
      `${url} cannot be reached from this machine: ${messageOf(error) || (codeOf(error) ?? 'no answer')}`,
      'Check PUBLIC_URL, DNS, the proxy, its certificate and the firewall.',
    );
  }
}

function linesOf({ check, status, message, remedy }: Finding): string {
  const advice = remedy === null || status === 'ok' ? '' : `${' '.repeat(22)}> ${inOneLine(remedy)}\n`;
  return `${MARKS[status]}  ${check.padEnd(11)}  ${inOneLine(message)}\n${advice}`;
}
