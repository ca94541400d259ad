import type { ReactElement } from 'react';
import { useExplanation } from '../../api/explain.ts';
import { ExplanationView } from '../../parts/explanation/explanation.tsx';
import { Load } from '../../parts/states.tsx';

/** Where the request of the first column would go, and why nowhere else. */
export function Explain({ body }: { readonly body: Readonly<Record<string, unknown>> }): ReactElement {
  const explanation = useExplanation(body);
  return <Load of={explanation}>{(data) => <ExplanationView explanation={data} />}</Load>;
}
