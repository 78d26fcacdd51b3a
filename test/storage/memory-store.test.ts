import { MemoryStore } from '../../src/storage/index.ts';
import { runDomainStoreContracts } from '../contracts/domain-stores.contract.ts';
import { runKeyValueStoreContract, type StoreBackend } from '../contracts/key-value-store.contract.ts';

const memory: StoreBackend = {
  name: 'memory',
  isDurable: false,
  prepare: async () => ({ open: async () => new MemoryStore(), clean: async () => undefined }),
};

runKeyValueStoreContract(memory);
runDomainStoreContracts(memory);
