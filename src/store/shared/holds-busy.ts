/** Nothing can be held at the moment, through no fault of whoever asked: to be asked again. */
export class HoldsBusy extends Error {
  override readonly name = 'HoldsBusy';
}
