import { z } from 'zod';
import { PASSWORD_CHARS_MAX } from '../../accounts/people/people.ts';

/** The half of a sign-in with an identity provider that scripts do not see. */
export const SIGN_IN_COOKIE = 'gateway_signin';
/** The rules are for the password that is chosen: one that is shown is right or wrong. */
export const passwordSchema = z.string().min(1).max(PASSWORD_CHARS_MAX);

export function serializeSignInCookie(value: string, seconds: number, isTls: boolean): string {
  const secure = isTls ? '; Secure' : '';
  return `${SIGN_IN_COOKIE}=${value}; Path=/ui/api/session; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
