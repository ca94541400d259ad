import { useEffect, useState, type ReactElement } from 'react';
import { useExplanations } from '../../api/explain.ts';
import { saidIn, type Thread } from './conversation.ts';
import { toBody } from './request/body.ts';
import { sentenceOfCost } from './request/cost.ts';
import { toUserMessage } from './request/content.ts';
import { problemOfSettings, type Settings } from './request/settings.ts';

const PAUSE_MS = 500;
/** Pictures count alike whatever they show: none is sent twice. */
const ANY_PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

/** What the message would cost, by the prices of the endpoints that would serve it. */
export function Estimate({
  text,
  images,
  threads,
  settings,
}: {
  readonly text: string;
  readonly images: number;
  readonly threads: readonly Thread[];
  readonly settings: Settings;
}): ReactElement | undefined {
  const said = usePaused(text);
  const isOff = said.trim() === '' || problemOfSettings(settings) !== undefined;
  const message = toUserMessage(
    said,
    Array.from({ length: images }, () => ANY_PICTURE),
  );
  const bodies = isOff
    ? []
    : threads.map((thread) => toBody('chat', thread.model, [...saidIn(thread), message], settings));
  const { data } = useExplanations(bodies);
  if (isOff || data === undefined || data.length !== bodies.length) return undefined;
  return (
    <p className="text-xs text-dim">
      {sentenceOfCost(
        data,
        threads.map(({ model }) => model),
      )}
    </p>
  );
}

/** The text once it rests for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), text === '' ? 0 : PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
