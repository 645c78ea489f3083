import { ShowReply } from '../protocol/sessions';
import { CoreError, type CoreClient, type Log } from './coreClient';
import { Owner } from './lifecycle';
import type { Place } from './places';
import type { Source } from './source';

/** What is asked about one item only when a person looks at it: git counts, terminals. Kept until the list is read anew. */
export class ItemDetails extends Owner {
  private readonly known = new Map<string, ShowReply>();
  private readonly flights = new Map<string, Promise<ShowReply | undefined>>();

  constructor(private readonly client: CoreClient, private readonly log: Log, list: Source<unknown>) {
    super();
    this.own(list.onDidChange(() => { this.known.clear(); }));
  }

  peek(place: Place, ref: string): ShowReply | undefined {
    return this.known.get(keyOf(place, ref));
  }

  /** Undefined when the program gives no answer; why is in the output channel. */
  get(place: Place, ref: string): Promise<ShowReply | undefined> {
    const key = keyOf(place, ref);
    const known = this.known.get(key);
    if (known) return Promise.resolve(known);
    const flight = this.flights.get(key) ?? this.ask(place, ref, key).finally(() => this.flights.delete(key));
    this.flights.set(key, flight);
    return flight;
  }

  private async ask(place: Place, ref: string, key: string): Promise<ShowReply | undefined> {
    try {
      const { reply } = await this.client.run({ place, args: ['sessions', 'show', ref], schema: ShowReply });
      this.known.set(key, reply);
      return reply;
    } catch (error) {
      this.log.error(error instanceof CoreError ? error.message : String(error));
      return undefined;
    }
  }
}

function keyOf(place: Place, ref: string): string {
  return `${place.stateRoot}\0${ref}`;
}
