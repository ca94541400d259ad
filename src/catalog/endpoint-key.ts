/** What an endpoint is known by in every layer. */
export function endpointKey({
  provider,
  model,
  tier,
}: {
  readonly provider: string;
  readonly model: string;
  readonly tier?: string | undefined;
}): string {
  return tier === undefined ? `${provider} ${model}` : `${provider} ${model} ${tier}`;
}
