import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

/** Corrects the balance, by more or by less. Like a grant it is made once, however often it is sent. */
export function AdjustCredit({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const body = { amount: parseNumber(amount) ?? 0, note };
  const adjust = useChange(
    (adjustment: Schemas['AdjustCreditsRequest']) =>
      client.POST('/credits/adjustments', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: adjustment,
      }),
    onClose,
  );
  return (
    <FormDialog
      title="Adjust the balance"
      isOpen={isOpen}
      onClose={onClose}
      change={adjust}
      input={body}
      submit="Adjust"
      request={{ method: 'POST', path: '/credits/adjustments', body }}
    >
      <NumberField
        label="USD, negative to take away"
        isRequired
        autoFocus
        value={amount}
        error={issueFor(adjust.error, 'amount')}
        onChange={setAmount}
      />
      <TextField
        label="Why"
        required
        value={note}
        placeholder="corrects invoice 2026-10"
        error={issueFor(adjust.error, 'note')}
        onChange={(event) => setNote(event.target.value)}
      />
    </FormDialog>
  );
}
