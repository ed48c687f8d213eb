//! Messages and programs that were valid before some of their bytes changed: each is answered, and
//! the server stays up.

use bytes::{Buf as _, BufMut as _, Bytes};
use prost::Message;
use tfrt_distributed::{
    PROTOCOL_VERSION,
    proto::{self, Header},
};
use tonic::{
    Request, Status,
    client::Grpc,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::http::uri::PathAndQuery,
    transport::Channel,
};

use crate::{
    requests::{COUNT, TENSOR, create_context, execute, id, register},
    support::{TestClient, TestServer, bef_of},
};

/// Messages as they are.
#[derive(Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, target: &mut EncodeBuf<'_>) -> Result<(), Status> {
        target.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(source.copy_to_bytes(source.remaining())))
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % bound as u64) as usize
    }

    /// Changes, removes and inserts some bytes from `start` on.
    fn mutate(&mut self, bytes: &mut Vec<u8>, start: usize) {
        for _ in 0..=self.below(4) {
            let at = start + self.below(bytes.len() - start + 1);
            let byte = [0, 1, 0x7f, 0x80, 0xff, self.below(256) as u8][self.below(6)];
            match self.below(4) {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at),
                2 if at < bytes.len() => drop(bytes.remove(at)),
                _ if at < bytes.len() => bytes[at] = byte,
                _ => bytes.push(byte),
            }
        }
    }
}

fn header(request_id: u64) -> Option<Header> {
    Some(Header { version: PROTOCOL_VERSION, client_id: 60, request_id, settled: 0, context_id: 7 })
}

/// A valid message of each call, without the header.
fn messages() -> Vec<(&'static str, Vec<u8>)> {
    let object = || Some((&id(3)).into());
    let attribute = |value| proto::Attribute { name: "axis".to_owned(), value: Some(value) };
    use proto::attribute::Value;
    let metadata = || Some(proto::TensorMetadata { dtype: 6, dims: vec![2, 3] });
    let attributes = vec![
        attribute(Value::Scalar(proto::Numbers { dtype: 6, bytes: Bytes::from_static(&[1, 2, 3, 4]) })),
        attribute(Value::Shape(proto::Shape { unranked: false, dims: vec![-1, 5] })),
        attribute(Value::Dense(proto::Dense { metadata: metadata(), bytes: Bytes::from(vec![0; 24]) })),
        attribute(Value::List(proto::Attributes { attributes: vec![attribute(Value::Type(6))] })),
    ];
    let op = proto::RemoteExecuteOpRequest {
        handler: "CPU:0".to_owned(),
        op: "tf.Relu".to_owned(),
        inputs: vec![(&id(1)).into()],
        outputs: vec![proto::Output { id: object(), need_metadata: true }],
        attributes,
        ..Default::default()
    };
    let data = proto::SendDataRequest {
        key: "key".to_owned(),
        sizes: vec![3, 2],
        chunk: Bytes::from_static(b"bytes"),
        ..Default::default()
    };
    let chain = proto::ReadyChain { task: "/job:worker/task:0".to_owned(), chain: object() };
    let objects = vec![(&id(3)).into()];
    vec![
        ("CreateContext", create_context().encode_to_vec()),
        (
            "SendReadyChains",
            proto::SendReadyChainsRequest { header: None, chains: vec![chain] }.encode_to_vec(),
        ),
        ("SendData", data.encode_to_vec()),
        ("RegisterFunction", register("tensor", TENSOR).encode_to_vec()),
        ("RemoteExecute", execute("count", &[5]).encode_to_vec()),
        ("RemoteExecuteOp", op.encode_to_vec()),
        ("DeleteRemoteObjects", proto::DeleteRemoteObjectsRequest { header: None, objects }.encode_to_vec()),
        ("FetchObject", proto::FetchObjectRequest { header: None, object: object() }.encode_to_vec()),
        ("GetDevices", Vec::new()),
        ("KeepAlive", Vec::new()),
    ]
}

#[test]
fn mutated_messages_are_answered() {
    let server = TestServer::start(|config| config.server.max_memory_bytes = 1 << 20, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("count", COUNT).unwrap();
    let address = format!("http://{}", server.address());
    let mut random = Random(1);
    server.fabric.block_on(async {
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        let mut number = 0;
        for (call, body) in messages() {
            for _ in 0..150 {
                number += 1;
                // The field of the header, as every request has it.
                let mut bytes = proto::KeepAliveRequest { header: header(number) }.encode_to_vec();
                let start = if random.below(10) == 0 { 0 } else { bytes.len() };
                bytes.extend_from_slice(&body);
                random.mutate(&mut bytes, start);
                let mut grpc = Grpc::new(channel.clone());
                grpc.ready().await.unwrap();
                let path: PathAndQuery = format!("/tfrt.distributed.v1.Remote/{call}").parse().unwrap();
                let mut request = Request::new(Bytes::from(bytes));
                // A message may ask for an object that nobody makes.
                request.set_timeout(std::time::Duration::from_millis(20));
                // Any answer will do: a mutated message may be a valid one.
                drop(grpc.server_streaming(request, path, Raw).await);
            }
        }
    });
    client.wait(client.client.keep_alive(proto::KeepAliveRequest::default())).unwrap();
    client.execute("count", &[1_000]).unwrap();
}

#[test]
fn mutated_programs_are_refused_or_run() {
    let server = TestServer::start(|config| config.calls.deadline_ms = 300, None);
    let client = TestClient::new(&server.address(), &server.config, None, 7);
    let valid = bef_of(COUNT);
    let mut random = Random(2);
    let mut refused = 0;
    for context in 1..=400 {
        let mut program = valid.clone();
        random.mutate(&mut program, if context % 8 == 0 { 0 } else { 8 });
        let own = client.client.in_context(context);
        client.wait(async {
            own.create_context(create_context()).await.unwrap();
            let request = proto::RegisterFunctionRequest { program: program.into(), ..register("count", "") };
            match own.register_function(request).await {
                // What it does is its own affair.
                Ok(_) => drop(own.remote_execute(execute("count", &[1])).await),
                Err(_) => refused += 1,
            }
            own.close_context(proto::CloseContextRequest::default()).await.unwrap();
        });
    }
    assert!(refused > 200, "only {refused} programs were refused");
    let after = TestClient::connect(&server.address(), &server.config, 1_000);
    after.register("count", COUNT).unwrap();
    after.execute("count", &[1]).unwrap();
}
