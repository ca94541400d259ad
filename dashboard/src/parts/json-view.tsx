import type { ReactElement } from 'react';
import { CodeBlock } from './copy.tsx';

/** Any value as JSON, to be read and copied. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }): ReactElement {
  return <CodeBlock label={label} text={JSON.stringify(value, undefined, 2) ?? ''} isWrapped />;
}
