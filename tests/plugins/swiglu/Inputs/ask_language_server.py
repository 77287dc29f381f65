# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ask_language_server.py SERVER TEXT: opens TEXT as a file in the language server and prints its diagnostics."""
import json
import subprocess
import sys

server, text = sys.argv[1:]
process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def send(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    body = json.dumps(message).encode()
    process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    process.stdin.flush()


def receive():
    size = 0
    while (line := process.stdout.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            size = int(line.split(b":")[1])
    return json.loads(process.stdout.read(size))


send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 0)
receive()
send("textDocument/didOpen",
     {"textDocument": {"uri": "file:///test.mlir", "languageId": "mlir", "version": 1, "text": text}})
found = receive()["params"]["diagnostics"]
print("diagnostics:", len(found))
for diagnostic in found:
    print(diagnostic["message"])
send("shutdown", None, 1)
receive()
send("exit", None)
sys.exit(process.wait())
