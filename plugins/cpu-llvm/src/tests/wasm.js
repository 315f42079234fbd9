// Calls functions that were compiled for wasm32 as C does there: descriptors and packed values by hand.
const fs = require("fs");
const assert = require("assert");
const log = [];
let instance, view, bytes;
let top = 0;
const text = (at) => { let s = ""; while (bytes[at]) s += String.fromCharCode(bytes[at++]); return s; };
const reserve = (size) => { top = (top + 63) & ~63; const at = top; top += size; return at; };
const env = {
  js_raise: (kind, message, where) => { log.push(["raise", text(kind), text(message), text(where)]); },
  js_allocate: (type, id, size) => { log.push(["allocate", type, id, Number(size)]); return reserve(Number(size)); },
  js_free: (type, id, data) => { log.push(["free", type, id]); return 0; },
  malloc: (size) => reserve(size), free: () => {}, dlsym: () => 0, fmod: (a, b) => a % b,
};
instance = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(process.argv[2])), { env });
const memory = instance.exports.memory;
memory.grow(16);
view = new DataView(memory.buffer); bytes = new Uint8Array(memory.buffer);
top = 8 * 65536;
// DLTensor where pointers have 32 bits: data 0, device 4 and 8, ndim 12, dtype 16, shape 20, strides 24, byte_offset 32.
function tensor(code, bits, data, count, size) {
  const at = reserve(40), shape = reserve(8), strides = reserve(8);
  view.setUint32(at, data, true); view.setInt32(at + 4, 1, true); view.setInt32(at + 8, 0, true);
  view.setInt32(at + 12, 1, true); bytes[at + 16] = code; bytes[at + 17] = bits; view.setUint16(at + 18, 1, true);
  view.setUint32(at + 20, shape, true); view.setUint32(at + 24, strides, true); view.setUint32(at + 28, 0xffffffff, true); // padding
  view.setBigUint64(at + 32, 0n, true); view.setBigInt64(strides, 1n, true);
  view.setBigInt64(shape, BigInt(count), true);
  return at;
}
function call(name, args) {
  const at = reserve(16 * args.length + 16), result = reserve(16);
  args.forEach(([type, value], i) => {
    view.setInt32(at + 16 * i, type, true); view.setInt32(at + 16 * i + 4, 0, true);
    if (type === 3) view.setFloat64(at + 16 * i + 8, value, true);
    else view.setBigInt64(at + 16 * i + 8, BigInt(value), true);
  });
  return instance.exports["__tvm_ffi_" + name](0, at, args.length, result);
}
function all() {
  const n = 37, a = reserve(4 * n), b = reserve(4 * n);
  for (let i = 0; i < n; i++) view.setFloat32(a + 4 * i, i, true);
  const A = tensor(2, 32, a, n), B = tensor(2, 32, b, n);
  assert.equal(call("axpb", [[7, A], [7, B], [3, 0.5], [1, 3]]), 0);
  for (let i = 0; i < n; i++) assert.equal(view.getFloat32(b + 4 * i, true), i * 0.5 + 3);
  const c = reserve(2 * 8), d = reserve(2 * 8);
  for (let i = 0; i < 8; i++) { view.setUint16(c + 2 * i, 0x3c00, true); view.setUint16(d + 2 * i, 0x4000, true); }
  assert.equal(call("halves", [[7, tensor(2, 16, c, 8)], [7, tensor(4, 16, d, 8)]]), 0);
  for (let i = 0; i < 8; i++) assert.equal(view.getUint16(c + 2 * i, true), 0x4200);
  const x = reserve(512), y = reserve(512);
  for (let i = 0; i < 64; i++) view.setFloat64(x + 8 * i, i / 8, true);
  assert.equal(call("rests", [[7, tensor(2, 64, x, 64)], [7, tensor(2, 64, y, 64)]]), 0);
  for (let i = 0; i < 64; i++) assert.equal(view.getFloat64(y + 8 * i, true), (i / 8) % 1.5);
  const u = reserve(4096), v = reserve(4096);
  for (let i = 0; i < 1024; i++) view.setInt32(u + 4 * i, i, true);
  assert.equal(call("reversed", [[7, tensor(0, 32, u, 1024)], [7, tensor(0, 32, v, 1024)]]), 0);
  for (let i = 0; i < 1024; i++) assert.equal(view.getInt32(v + 4 * i, true), 3 * (1023 - i));
  const S = tensor(2, 32, b, n + 1);
  assert.equal(call("axpb", [[7, A], [7, S], [3, 0.5], [1, 3]]), -1);
}
// Without an environment: the code helps itself.
all();
assert.deepEqual(log, []);
// With one.
view.setUint32(instance.exports.__chipdock_env.value, instance.exports.env.value, true);
all();
assert.deepEqual(log.slice(0, 2), [["allocate", 1, 0, 4096], ["free", 1, 0]]);
assert.equal(log.length, 3);
assert.equal(log[2][1], "ValueError");
assert.match(log[2][2], /B\.shape\[0\].*got 38|38/s);
assert.equal(log[2][3], "axpb_checked_");
console.log("done");
