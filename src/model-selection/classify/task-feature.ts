import type { TaskTag } from './task-tags.ts';

/** Where a turn of phrase counts: in the text of the user, in the instructions, or in both. */
type FeaturePlace = 'user' | 'instructions' | 'both';

/** A turn of phrase that says what is wanted, where single words would not. */
export interface TaskFeature {
  readonly tag: TaskTag;
  readonly score: number;
  readonly place: FeaturePlace;
  /** Of folded text (fold-text.ts). Repeats nothing without a bound: it runs on what callers write. */
  readonly pattern: RegExp;
}

export const feature = (tag: TaskTag, score: number, place: FeaturePlace, pattern: RegExp): TaskFeature => ({
  tag,
  score,
  place,
  pattern,
});

/** Verbs of ten languages that request something new. */
export const MAKE =
  '(?:write|come up with|create|generate|make|build|implement|give me|i need|i want|draft|compose|produce|prepare|set up|schreib(?:e|t|st)?|erstell(?:e|t|en)?|bau(?:e|en)?|mach(?:e|en)?|entwirf|verfasse|gib mir|brauche|ecri(?:s|re|vez)|redige(?:r|z)?|cree(?:r|z)?|genere(?:r|z)?|fais(?:-moi)?|donne(?:-moi)?|prepare(?:r|z)?|escrib(?:e|eme|ir)|crea(?:r|me)?|genera(?:r|me)?|haz(?:me)?|dame|redacta(?:r)?|necesito|escrev(?:a|e|er)|cri(?:e|a|ar)|faz|faca|gere|preciso|scriv(?:i|ere|imi)|fammi|prepara|dammi|schrijf|maak|napisz|stworz|przygotuj|zrob|yaz|olustur|hazirla|skriv|skapa|gor)';

/** Verbs of ten languages that request a change. */
export const CHANGE =
  '(?:change|put|swap|adjust|correct|edit|update|modify|rename|replace|remove|delete|move|insert|add|append|bump|set|split|ander[en]?|aktualisiere|ersetz(?:e|en)?|entfern(?:e|en)?|losch(?:e|en)?|verschieb(?:e|en)?|fug(?:e|en)?|erganz(?:e|en)?|benenne|change[rz]?|modifie[rz]?|remplace[rz]?|supprime[rz]?|ajoute[rz]?|renomme[rz]?|deplace[rz]?|cambia(?:r)?|modifica(?:r)?|reemplaza(?:r)?|elimina(?:r)?|borra(?:r)?|anade|agrega(?:r)?|renombra(?:r)?|mueve|mude|altere|substitua|remova|apague|adicione|renomeie|aggiungi|sostituisci|rimuovi|rinomina|sposta|wijzig|vervang|verwijder|voeg|zmien|usun|dodaj|degistir|ekle|sil)';

/** A pattern of parts; spaces in it are spaces of the text. */
export const pattern = (...parts: readonly string[]): RegExp => new RegExp(parts.join(''));
