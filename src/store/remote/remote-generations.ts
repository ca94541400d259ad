import type { MessageLink } from '../../lib/net/message-link.ts';
import type { Charges, GenerationStore } from '../generations/generations.ts';
import type { GenerationRow } from '../generations/columns.ts';
import type { StoreProcedures } from './serve-store.ts';

const NO_CHARGES: Charges = { entries: [], spend: [] };

/**
 * The store of generations as a worker uses it: each record is sent to the first process, and counts once that has stored
 * it.
 * @param onLost called for a record that the first process did not take; must not throw
 */
export function createRemoteGenerations(
  link: MessageLink<Pick<StoreProcedures, 'append'>>,
  onLost: (row: GenerationRow, error: unknown) => void,
): Pick<GenerationStore, 'append'> {
  return {
    append: (row, charges = NO_CHARGES) =>
      link.call('append', { row, charges }).catch((error: unknown) => onLost(row, error)),
  };
}
