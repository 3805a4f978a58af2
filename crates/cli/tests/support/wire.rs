//! Between a client and a server: a connection that can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

pub struct Wire {
    pub address: SocketAddr,
    streams: Arc<Mutex<Vec<TcpStream>>>,
}

/// A way to this address.
pub fn wire(to: SocketAddr) -> Wire {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let streams: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let kept = Arc::clone(&streams);
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), TcpStream::connect(to).unwrap());
            let both = |stream: &TcpStream| stream.try_clone().unwrap();
            kept.lock().unwrap().extend([both(&near), both(&far)]);
            let (near_too, far_too) = (both(&near), both(&far));
            thread::spawn(move || copy(near, far));
            thread::spawn(move || copy(far_too, near_too));
        }
    });
    Wire { address, streams }
}

impl Wire {
    /// Cuts every connection there is. New ones are fine.
    pub fn cut(&self) {
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 1 << 14];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}
