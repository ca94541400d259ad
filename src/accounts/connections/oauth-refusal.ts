export type OauthRefusalCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_redirect_uri'
  | 'invalid_grant'
  | 'invalid_target'
  | 'access_denied'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'temporarily_unavailable';

/** A request of a client is refused in the words of RFC 6749. The message is safe to show. */
export class OauthRefusal extends Error {
  readonly code: OauthRefusalCode;
  /** Where the refusal goes. Absent: to no client, since the request names none that may have it. */
  readonly redirect: { readonly uri: string; readonly state: string | undefined } | undefined;

  constructor(
    code: OauthRefusalCode,
    message: string,
    options: ErrorOptions & { readonly redirect?: { readonly uri: string; readonly state: string | undefined } } = {},
  ) {
    super(message, options);
    this.name = 'OauthRefusal';
    this.code = code;
    this.redirect = options.redirect;
  }
}
