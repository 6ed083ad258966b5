//! A server with std::net and a channel. The bug: the collecting thread stops after a fixed number
//! of messages, although a connection may give two.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients: Vec<_> = ["a\nb\n", "c\n"]
        .map(|text| {
            thread::spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(text.as_bytes()).unwrap();
            })
        })
        .into_iter()
        .collect();
    let (sender, receiver) = mpsc::channel::<String>();
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (stream, _) = listener.accept().unwrap();
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(stream).lines() {
                    // Nobody may want it any more.
                    let _ = sender.send(line.unwrap());
                }
            })
        })
        .collect();
    drop(sender);
    let mut lines: Vec<String> = if cfg!(fixed) {
        receiver.iter().collect()
    } else {
        receiver.iter().take(2).collect()
    };
    drop(receiver);
    clients.into_iter().for_each(|c| c.join().unwrap());
    readers.into_iter().for_each(|r| r.join().unwrap());
    lines.sort();
    if lines != ["a", "b", "c"] {
        std::process::exit(3);
    }
}
