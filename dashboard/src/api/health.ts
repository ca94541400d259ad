/** What load balancers read. */
export interface Readiness {
  readonly isReady: boolean;
  readonly status: number;
}

export async function readReadiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch('/health/ready', { signal });
  return { isReady: response.ok, status: response.status };
}
