import { z } from 'zod';
import { nanoFromUsd } from '../../lib/money.ts';
import { key } from './key.ts';
import { checkVaultReference, OFF, optionalSection, text } from './parts.ts';

const PORT_MAX = 65_535;
const CREDITS_LOW_USD_MAX = 1_000_000_000;
const DEFAULT_CREDITS_LOW_USD = 100;
const SMTP_PORT = 587;
const SMTPS_PORT = 465;
const ADDRESS_CHARS_MAX = 320;
const HOST = /^[A-Za-z0-9_.:-]{1,253}$/;
const SENDER = /^(?:[^<>\r\n"]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

/** What operators are notified of, and by which server mail goes. */
export interface NotificationsConfig {
  /** A balance below this is reported where credit is enforced. */
  readonly creditsLowNanoUsd: number;
  /** Whether channels may have addresses that are not on the public Internet, and without TLS. */
  readonly privateAddresses: boolean;
  /** Absent: no mail is sent. */
  readonly smtp: SmtpConfig | undefined;
}

export interface SmtpConfig {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; else by STARTTLS. */
  readonly secure: boolean;
  /** Whether mail may go without TLS. */
  readonly plain: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly from: string;
}

export const notificationsSection = optionalSection(
  {
    credits_low_usd: key(
      z.number().positive().max(CREDITS_LOW_USD_MAX),
      'A balance below this is reported, where credit is enforced.',
      { default: DEFAULT_CREDITS_LOW_USD },
    ),
    private_addresses: key(z.boolean(), "Channels may be in the operator's own network, and without TLS.", OFF),
    smtp: optionalSection(
      {
        host: key(z.string().regex(HOST, 'must be a host name or an address'), 'The mail server.', {
          usual: 'no mail is sent',
          example: 'smtp.example.com',
        }),
        port: key(z.int().min(1).max(PORT_MAX), 'Its port.', {
          usual: '587, and 465 with `secure`',
          example: SMTP_PORT,
        }),
        secure: key(z.boolean(), 'TLS from the first byte, instead of STARTTLS.', OFF),
        plain: key(z.boolean(), 'Mail may go without TLS, so that anyone on the way can read along.', OFF),
        user: key(text, 'The name that the server is given.', { usual: 'no login', example: 'gateway' }),
        password: key(text.superRefine(checkVaultReference), 'Its password.', {
          usual: 'no login',
          example: 'a-password',
        }),
        from: key(
          z.string().max(ADDRESS_CHARS_MAX).regex(SENDER, 'must be an address such as gateway@example.com'),
          'The sender of every mail.',
          { usual: '`gateway@` and the name of the host', example: 'Gateway <gateway@example.com>' },
        ),
      },
      'The mail server for channels of the kind `email`.',
    ),
  },
  'What operators are notified of: docs/notifications.md.',
);

/** The section with its defaults. */
export function notificationsOf({
  credits_low_usd: creditsLowUsd = DEFAULT_CREDITS_LOW_USD,
  private_addresses: privateAddresses = false,
  smtp: { host, secure = false, port = secure ? SMTPS_PORT : SMTP_PORT, plain = false, user, password, from },
}: z.output<typeof notificationsSection>): NotificationsConfig {
  return {
    creditsLowNanoUsd: nanoFromUsd(creditsLowUsd),
    privateAddresses,
    smtp:
      host === undefined
        ? undefined
        : {
            host,
            port,
            secure,
            plain,
            from: from ?? `gateway@${host}`,
            ...(user !== undefined && { user }),
            ...(password !== undefined && { password }),
          },
  };
}
