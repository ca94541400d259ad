import type { FillSecrets } from '../../canonical/vault-reference.ts';
import type { Finding } from '../../app/check-provider/finding.ts';
import type { Config } from '../../config/config.ts';
import { createMailSender } from '../../notifications/senders/email.ts';

const noSecrets: FillSecrets = () => Promise.reject(new Error('The configuration names no secret of the vault.'));

/** Whether mail would leave: connects to the operator's server and logs in. Sends nothing. */
export async function checkMail(
  { notifications: { smtp } }: Pick<Config, 'notifications'>,
  fill: FillSecrets = noSecrets,
): Promise<readonly (readonly [string, Finding])[]> {
  if (smtp === undefined) return [];
  const mail = createMailSender(smtp, fill);
  try {
    const fault = await mail.check();
    const place = `${smtp.host}:${smtp.port}`;
    const login = smtp.user === undefined ? 'takes mail without a login' : `takes the login of ${smtp.user}`;
    return [
      [
        'mail',
        fault === undefined
          ? { verdict: 'ok', message: `${place} ${login}.` }
          : { verdict: 'failed', message: `${place}: ${fault}` },
      ],
    ];
  } finally {
    mail.close();
  }
}
