/** By which server mail goes. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  readonly plain: boolean;
  readonly user?: string;
  readonly password?: string;
  readonly from: string;
}
