// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/cable.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <utility>

#include "testbed/failure.hpp"
#include "testbed/memory.hpp"

namespace rondo::testbed {
namespace {

// <linux/virtio_net.h> is no C++: struct virtio_net_hdr has 10 bytes.
constexpr std::size_t offload_header = 10;

template <class Value>
void set_option(int socket, int option, const Value& value, const std::string& what) {
    if (::setsockopt(socket, SOL_PACKET, option, &value, sizeof value) != 0) throw system_failure(what);
}

tpacket_req request_of(const Ring& ring) {
    return {.tp_block_size = Ring::block_bytes,
            .tp_block_nr = static_cast<unsigned>(ring.blocks()),
            .tp_frame_size = static_cast<unsigned>(ring.slot_bytes()),
            .tp_frame_nr = static_cast<unsigned>(ring.slots())};
}

// The kernel's side of a slot's state.
std::atomic_ref<__u32> status_of(std::byte* slot) {
    return std::atomic_ref(reinterpret_cast<tpacket2_hdr*>(slot)->tp_status);
}

}  // namespace

Cable::Cable(const std::string& device, const Ring& ring)
    : socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      device_(static_cast<int>(::if_nametoindex(device.c_str()))), ring_(ring) {
    const int file = socket_.number();
    if (file < 0) throw system_failure("cannot open a packet socket (AF_PACKET, CAP_NET_RAW)");
    set_option(file, PACKET_VNET_HDR, 1, "packet socket: no offload headers (PACKET_VNET_HDR)");
    set_option(file, PACKET_QDISC_BYPASS, 1, "packet socket: PACKET_QDISC_BYPASS");
    set_option(file, PACKET_IGNORE_OUTGOING, 1, "packet socket: PACKET_IGNORE_OUTGOING (Linux 4.20 or newer)");
    set_option(file, PACKET_VERSION, static_cast<int>(TPACKET_V2), "packet socket: no ring of version 2");
    set_option(file, PACKET_RX_RING, request_of(ring),
               "packet socket: no memory for a ring of " + memory_text(ring.bytes()));
    void* memory = ::mmap(nullptr, ring.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) throw system_failure("cannot map a ring of " + memory_text(ring.bytes()));
    memory_ = static_cast<std::byte*>(memory);

    const sockaddr_ll address{.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = device_};
    if (::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        throw system_failure("cannot bind a packet socket to " + device);
    }
}

Cable::Cable(Cable&& other) noexcept
    : socket_(std::move(other.socket_)), device_(other.device_), ring_(other.ring_),
      memory_(std::exchange(other.memory_, nullptr)), slot_(other.slot_) {}

Cable::~Cable() {
    if (memory_ != nullptr) ::munmap(memory_, ring_.bytes());
}

std::byte* Cable::slot() const { return memory_ + ring_.offset(slot_); }

std::optional<Cable::Packet> Cable::receive() const {
    if ((status_of(slot()).load(std::memory_order_acquire) & TP_STATUS_USER) == 0) return std::nullopt;
    const auto& header = *reinterpret_cast<const tpacket2_hdr*>(slot());
    const std::span data(slot() + header.tp_mac - offload_header, header.tp_snaplen + offload_header);
    return Packet{.data = data,
                  .ip = data.subspan(offload_header + (header.tp_net - header.tp_mac)),
                  .sent = Nanoseconds{header.tp_sec} * 1'000'000'000 + header.tp_nsec};
}

void Cable::release() {
    status_of(slot()).store(TP_STATUS_KERNEL, std::memory_order_release);
    slot_ = (slot_ + 1) % ring_.slots();
}

bool Cable::transmit(std::span<const std::byte> data) const {
    const sockaddr_ll address{.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = device_};
    const ssize_t sent = ::sendto(socket_.number(), data.data(), data.size(), 0,
                                  reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return sent == static_cast<ssize_t>(data.size());
}

unsigned Cable::lost() const {
    tpacket_stats statistics{};
    socklen_t size = sizeof statistics;
    ::getsockopt(socket_.number(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size);
    return statistics.tp_drops;
}

}  // namespace rondo::testbed
