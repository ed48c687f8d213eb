//! Input that no honest client sends: it is refused, and the server stays up.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt as _, future::select_all};
use tfrt_distributed::{
    Destination, PROTOCOL_VERSION, Payload,
    proto::{self, Header},
};
use tfrt_host::ErrorCode;
use tfrt_tensor::{Accessor, DenseHostTensor};

use crate::{
    requests::{BLOCK, COUNT, TENSOR, allocator, create_context, execute, id, register},
    support::{TestClient, TestServer, eventually, stub},
};

static READER: Accessor = Accessor::new("test.hostile.reader");

fn bounded() -> (TestServer, TestClient) {
    let server = TestServer::start(
        |config| {
            config.server.max_functions = 20;
            config.server.max_program_bytes = 10_000;
            config.server.max_memory_bytes = 100_000;
            config.server.max_waiting = 5;
            config.server.max_objects = 50;
            config.server.max_contexts = 3;
            config.server.max_requests = 4;
        },
        None,
    );
    let client = TestClient::connect(&server.address(), &server.config, 7);
    (server, client)
}

fn is_up(client: &TestClient) {
    client.wait(client.client.keep_alive(proto::KeepAliveRequest::default())).unwrap();
}

#[test]
fn bytes_that_are_no_messages_are_refused() {
    let (server, client) = bounded();
    let mut state = 1_u64;
    for round in 0..100 {
        let mut socket = TcpStream::connect(server.address()).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        if round % 2 == 0 {
            socket.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        }
        let garbage: Vec<u8> = (0..2_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        // The server may close the connection at any time.
        drop(socket.write_all(&garbage));
        drop(socket.read(&mut [0; 100]));
    }
    is_up(&client);
}

#[test]
fn programs_that_are_none_are_refused() {
    let (_server, client) = bounded();
    let mut bef = tfrt_host::bef::MAGIC.to_vec();
    for length in 0..200_u8 {
        bef.push(length.wrapping_mul(37));
        let program = Bytes::from(bef.clone());
        let request = proto::RegisterFunctionRequest { program, ..register("f", "") };
        assert!(client.wait(client.client.register_function(request)).is_err());
    }
    let large = "x".repeat(10_001);
    assert_eq!(client.register("large", &large).unwrap_err().code, ErrorCode::ResourceExhausted);
    let unknown = proto::RegisterFunctionRequest { language: 77, ..register("count", COUNT) };
    assert!(client.wait(client.client.register_function(unknown)).unwrap_err().message.contains("77"));
    assert!(client.register(&"n".repeat(5_000), COUNT).is_err());
    is_up(&client);
}

#[test]
fn numbers_of_programs_objects_and_contexts_are_bounded() {
    let (server, client) = bounded();
    let mut refused = 0;
    for number in 0..40 {
        let name = format!("count{number}");
        match client.register(&name, &COUNT.replace("@count", &format!("@{name}"))) {
            Ok(()) => {}
            Err(error) => {
                assert_eq!(error.code, ErrorCode::ResourceExhausted);
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 20);
    for context in 8..10 {
        TestClient::connect(&server.address(), &server.config, context);
    }
    let more = TestClient::new(&server.address(), &server.config, None, 10);
    let error = more.wait(more.client.create_context(create_context())).unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted);
    let failed = (0..60).filter(|&number| client.execute("count0", &[number + 1]).is_err()).count();
    assert!(failed >= 10, "{failed}");
    is_up(&client);
}

#[test]
fn requests_in_progress_are_bounded() {
    let (server, client) = bounded();
    client.register("block", BLOCK).unwrap();
    let calls = (1..=5).map(|number| {
        let calling = client.client.clone();
        Box::pin(async move { calling.remote_execute(execute("block", &[number])).await })
    });
    let (first, _, others) = client.wait(select_all(calls));
    let error = first.unwrap_err();
    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
    assert!(error.to_string().contains("4 requests of the context are in progress"), "{error}");
    // The others wait, and are cancelled.
    eventually("the kernels run", || server.blocked() == 4);
    drop(others);
    eventually("the kernels are cancelled", || server.cancelled() == 4);
    is_up(&client);
}

#[test]
fn data_that_lies_or_is_too_much_is_refused() {
    let (_server, client) = bounded();
    let send = |key: &str, bytes: usize| {
        let payload = Payload::from(vec![Bytes::from(vec![0; bytes])]);
        client.wait(client.client.send_data(Destination::Key(key.to_owned()), &payload))
    };
    assert_eq!(send("large", 200_000).unwrap_err().code, ErrorCode::ResourceExhausted);
    send("twice", 10).unwrap();
    assert_eq!(send("twice", 10).unwrap_err().code, ErrorCode::FailedPrecondition);
    let full = (0..10).filter(|number| send(&format!("key{number}"), 10).is_err()).count();
    assert_eq!(full, 6);
    let no_tensor = Payload::from(vec![Bytes::from_static(b"no"), Bytes::from_static(b"tensor")]);
    assert!(client.wait(client.client.send_data(Destination::Object(id(3)), &no_tensor)).is_err());
    is_up(&client);
}

#[test]
fn tensors_of_another_size_than_announced_are_refused() {
    let (server, client) = bounded();
    let tensor = DenseHostTensor::from_slice([4], &[1_i32, 2, 3, 4], &allocator()).unwrap();
    let payload = tfrt_distributed::serialize(&tensor).unwrap();
    let [metadata, elements] = [0, 1].map(|index: usize| payload.buffers[index].to_bytes());
    let send = |sizes: [usize; 2], bytes: &[u8], request_id: u64| {
        let header =
            Header { version: PROTOCOL_VERSION, client_id: 51, request_id, settled: 0, context_id: 7 };
        let first = proto::SendDataRequest {
            header: Some(header),
            sizes: sizes.map(|size| size as u64).to_vec(),
            object: Some((&id(request_id)).into()),
            chunk: metadata.clone(),
            ..Default::default()
        };
        // Messages end at other places than buffers.
        let others = bytes.chunks(5).map(Bytes::copy_from_slice);
        let others = others.map(|chunk| proto::SendDataRequest { chunk, ..Default::default() });
        let messages: Vec<_> = std::iter::once(first).chain(others).collect();
        let mut stub = stub(&server);
        client.wait(async move { stub.send_data(tokio_stream::iter(messages)).await })
    };
    let longer = [&elements[..], &[0]].concat();
    let lies = [
        ([metadata.len(), 15], &elements[..15]),
        ([metadata.len(), 17], &longer[..]),
        ([metadata.len(), 16], &elements[..15]),
        ([metadata.len(), 16], &longer[..]),
        ([metadata.len(), usize::MAX / 2], &elements[..]),
    ];
    for (number, (sizes, bytes)) in (1..).zip(lies) {
        assert!(send(sizes, bytes, number).is_err(), "{sizes:?} and {} bytes", bytes.len());
    }
    send([metadata.len(), 16], &elements, 6).unwrap();
    assert_eq!(*client.fetch(6).unwrap().read::<i32>(&READER).unwrap(), [1, 2, 3, 4]);
    is_up(&client);
}

#[test]
fn sizes_that_lie_cost_nothing() {
    let (server, client) = bounded();
    let header = |request_id| {
        Some(Header { version: PROTOCOL_VERSION, client_id: 50, request_id, settled: 0, context_id: 7 })
    };
    let mut stub = stub(&server);
    server.fabric.block_on(async {
        let sizes = [vec![u64::MAX], vec![u64::MAX, 1], vec![50_000], vec![1; 5_000], vec![0, 0, 1], vec![]];
        for (number, sizes) in (1..).zip(sizes) {
            let message = proto::SendDataRequest {
                header: header(number),
                key: format!("k{number}"),
                sizes,
                object: None,
                chunk: Bytes::from_static(b"short"),
            };
            assert!(stub.send_data(tokio_stream::iter([message])).await.is_err());
        }
        let empty = proto::RemoteExecuteRequest::default();
        assert!(stub.remote_execute(empty).await.is_err());
        let no_ids = proto::RemoteExecuteRequest {
            header: header(100),
            inputs: vec![proto::ObjectId::default(); 3],
            outputs: vec![proto::Output::default()],
            ..execute("missing", &[])
        };
        assert!(stub.remote_execute(no_ids).await.is_err());
        let op = proto::RemoteExecuteOpRequest {
            header: header(101),
            op: "no.such.op".into(),
            ..Default::default()
        };
        assert!(stub.remote_execute_op(op).await.is_err());
    });
    is_up(&client);
}

#[test]
fn memory_of_a_context_is_bounded() {
    let (_server, client) = bounded();
    client.register("tensor", TENSOR).unwrap();
    client.execute("tensor", &[1]).unwrap();
    let large = TENSOR.replace("[2 : i64]", "[1000000 : i64]").replace("@tensor", "@large");
    client.register("large", &large).unwrap();
    assert_eq!(client.execute("large", &[2]).unwrap_err().code, ErrorCode::OutOfMemory);
    is_up(&client);
}

/// `TFRT_TEST_FUNCTIONS=1000000` asks for more.
#[test]
fn functions_beyond_the_bound_cost_nothing() {
    const MAX_FUNCTIONS: usize = 100;
    let count = std::env::var("TFRT_TEST_FUNCTIONS").map_or(3_000, |text| text.parse().unwrap());
    let server = TestServer::start(|config| config.server.max_functions = MAX_FUNCTIONS, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    let calling = &client.client;
    let accepted = client.wait(async {
        let calls = (0..count).map(|number| async move {
            let name = format!("f{number}");
            let program = COUNT.replace("@count", &format!("@{name}"));
            match calling.register_function(register(&name, &program)).await {
                Ok(_) => 1,
                Err(error) => {
                    assert_eq!(error.code, ErrorCode::ResourceExhausted, "{error}");
                    0
                }
            }
        });
        let mut calls = futures_util::stream::iter(calls).buffer_unordered(64);
        let mut accepted = 0;
        while let Some(more) = calls.next().await {
            accepted += more;
        }
        accepted
    });
    assert_eq!(accepted, MAX_FUNCTIONS);
    is_up(&client);
}
