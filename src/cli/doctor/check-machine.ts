import { rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder } from '../../lib/files/make-folder.ts';
import { CLOCK_TOLERANCE_MS } from '../../app/check-provider/check-provider.ts';
import type { Finding, ProviderFinding } from '../../app/check-provider/finding.ts';
import { codeOf } from '../operator-error.ts';

const SECRET_CHARS_MIN = 16;

/** Whether the database can be kept where the configuration says. Leaves nothing behind but the folder. */
export async function checkDataDir(dataDir: string): Promise<Finding> {
  const probe = join(dataDir, `.doctor-${randomUUID()}`);
  try {
    await makeFolder(dataDir);
    await writeFile(probe, 'probe');
    await rm(probe);
    return { verdict: 'ok', message: `${dataDir} can be written to.` };
  } catch (error) {
    return { verdict: 'failed', message: `${dataDir} cannot be written to (${codeOf(error) ?? String(error)}).` };
  }
}

/** @param secret GATEWAY_SECRET */
export function checkSecret(secret: string | undefined): Finding {
  if (secret === undefined)
    return {
      verdict: 'ok',
      message: 'GATEWAY_SECRET is not set; stored credentials are encrypted with the secret of the data directory.',
    };
  if (secret.length < SECRET_CHARS_MIN)
    return {
      verdict: 'warning',
      message: `GATEWAY_SECRET has fewer than ${SECRET_CHARS_MIN} characters: it could be guessed.`,
    };
  return { verdict: 'ok', message: 'GATEWAY_SECRET is set.' };
}

/** Judged by the dates of providers' answers: the median, because one of them may be wrong itself. */
export function checkClock(findings: readonly ProviderFinding[]): Finding {
  const ahead = findings
    .flatMap(({ clockAheadMs }) => (clockAheadMs === undefined ? [] : [clockAheadMs]))
    .toSorted((left, right) => left - right);
  const median = ahead[Math.floor(ahead.length / 2)];
  if (median === undefined) return { verdict: 'ok', message: 'No provider reported the time to compare with.' };
  if (Math.abs(median) <= CLOCK_TOLERANCE_MS) return { verdict: 'ok', message: 'It agrees with the providers.' };
  const seconds = Math.round(Math.abs(median) / 1_000);
  const way = median > 0 ? 'ahead of' : 'behind';
  return {
    verdict: 'failed',
    message: `This machine is ${seconds} seconds ${way} the providers: signatures and tokens are refused from 300 on.`,
  };
}
