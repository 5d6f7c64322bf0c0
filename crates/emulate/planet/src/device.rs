//! Configures a host's network in the kernel over route netlink: addresses, routes and counters.

mod bucket;

use std::{io, net::IpAddr};

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressAttribute, AddressHeaderFlags, AddressMessage},
    link::{LinkAttribute, LinkFlags, LinkMessage},
    route::{RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType},
    rule::{RuleAction, RuleAttribute, RuleMessage},
    tc::{TcAttribute, TcHandle, TcMessage, TcOption},
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use units::Bitrate;

pub(crate) struct Netlink {
    socket: Socket,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    pub(crate) fn device(&self, name: &str) -> io::Result<Device> {
        let mut message = LinkMessage::default();
        message.attributes.push(LinkAttribute::IfName(name.to_owned()));
        let reply = self.ask(RouteNetlinkMessage::GetLink(message), 0)?;
        let Some(RouteNetlinkMessage::NewLink(link)) = reply else {
            return Err(io::Error::other("the kernel did not describe the device"));
        };
        let dropped = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Stats64(stats) => Some(stats.tx_dropped),
            _ => None,
        });
        Ok(Device { index: link.header.index, dropped: dropped.unwrap_or_default() })
    }

    pub(crate) fn switch_on(&self, index: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.tell(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// In packets. This is cheaper before the device is up.
    pub(crate) fn make_room(&self, index: u32, packets: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.attributes.push(LinkAttribute::TxQueueLen(packets));
        self.tell(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// The device never signals backpressure, so its discipline would never queue a packet. The
    /// kernel's default takes 0.7 MB for each host.
    pub(crate) fn leave_out_discipline(&self, index: u32) -> io::Result<()> {
        let mut message = TcMessage::default();
        message.header.index = i32::try_from(index).map_err(io::Error::other)?;
        message.header.parent = TcHandle::ROOT;
        message.attributes = vec![TcAttribute::Kind("noqueue".to_owned())];
        self.tell(RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    pub(crate) fn add_address(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.index = index;
        // Duplicate address detection would delay the use of the address.
        message.header.flags = AddressHeaderFlags::Nodad;
        message.header.prefix_len = bits(address);
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.tell(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    pub(crate) fn add_default_route(
        &self,
        index: u32,
        from: IpAddr,
        table: Table,
        congestion: Option<&str>,
    ) -> io::Result<()> {
        let mut message = route(from, RouteScope::Link, RouteType::Unicast);
        message.attributes = vec![
            RouteAttribute::Oif(index),
            RouteAttribute::PrefSource(from.into()),
            RouteAttribute::Table(table.0),
        ];
        if let Some(name) = congestion {
            message.attributes.push(RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(name.to_owned())]));
        }
        self.tell(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    pub(crate) fn add_source_rule(&self, from: IpAddr, table: Table) -> io::Result<()> {
        let mut message = RuleMessage::default();
        message.header.family = family(from);
        message.header.src_len = bits(from);
        message.header.action = RuleAction::ToTable;
        message.attributes = vec![RuleAttribute::Source(from), RuleAttribute::Table(table.0)];
        self.tell(RouteNetlinkMessage::NewRule(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    pub(crate) fn add_local_prefix(&self, loopback: u32, address: IpAddr, length: u8) -> io::Result<()> {
        let mut message = route(address, RouteScope::Host, RouteType::Local);
        message.header.destination_prefix_length = length;
        message.attributes = vec![
            RouteAttribute::Destination(address.into()),
            RouteAttribute::Oif(loopback),
            RouteAttribute::Table(Table::LOCAL.0),
        ];
        self.tell(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Packets wait in the host's kernel, so TCP small queues apply backpressure to the sender.
    pub(crate) fn limit_rate(&self, index: u32, rate: Bitrate) -> io::Result<()> {
        let mut message = TcMessage::default();
        message.header.index = i32::try_from(index).map_err(io::Error::other)?;
        message.header.parent = TcHandle::ROOT;
        let options =
            bucket::options(rate).map(|(kind, value)| TcOption::Other(DefaultNla::new(kind, value)));
        message.attributes = vec![TcAttribute::Kind("tbf".to_owned()), TcAttribute::Options(options.into())];
        self.tell(RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    fn tell(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.ask(message, flags | NLM_F_ACK).map(drop)
    }

    fn ask(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<Option<RouteNetlinkMessage>> {
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            NetlinkPayload::InnerMessage(message) => Ok(Some(message)),
            _ => Ok(None),
        }
    }
}

pub(crate) struct Device {
    pub index: u32,
    pub dropped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table(u32);

impl Table {
    pub(crate) const MAIN: Self = Self(RouteHeader::RT_TABLE_MAIN as u32);
    const LOCAL: Self = Self(RT_TABLE_LOCAL);

    pub(crate) fn of_device(number: usize) -> Self {
        Self(FIRST_OWN_TABLE + u32::try_from(number).expect("a host has a few devices"))
    }
}

fn route(address: IpAddr, scope: RouteScope, kind: RouteType) -> RouteMessage {
    let mut message = RouteMessage::default();
    let protocol = RouteProtocol::Static;
    message.header =
        RouteHeader { address_family: family(address), protocol, scope, kind, ..RouteHeader::default() };
    message
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

const RT_TABLE_LOCAL: u32 = 255;

/// The table of net0. Distinct from the named tables (253 and above, rt_tables of iproute2).
const FIRST_OWN_TABLE: u32 = 100;
