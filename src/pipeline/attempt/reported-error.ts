import { classifyErrorEvent } from '../../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { parseJsonObject } from '../../lib/json.ts';
import type { Provider } from '../../providers/contract.ts';
import { errorOfEvent, statusOfError } from '../../wire/upstream-error.ts';
import { judgeFailure } from './judge-failure.ts';

/** Errors are short: what is longer is some other answer. */
const ERROR_BYTES_MAX = 65_536;

/** The failure that an answer of status 200 reports, which is no answer of its format; `undefined`: it reports none. */
export function reportedError(answer: Buffer, provider: Provider): UpstreamFailure | undefined {
  if (answer.length > ERROR_BYTES_MAX) return undefined;
  const body = parseJsonObject(answer.toString('utf8'));
  const error = body && errorOfEvent(body);
  return error && judgeFailure(classifyErrorEvent(statusOfError(error), error), provider);
}
