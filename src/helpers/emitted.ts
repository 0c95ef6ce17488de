/** A value that is there at once or comes later, as an observable in either case. */
import { Observable, of } from 'rxjs';

export const emitted = <Value>(value: Value | Observable<Value>): Observable<Value> =>
  value instanceof Observable ? value : of(value);
