// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <unordered_set>
#include <utility>

namespace rondo::mpi {

/// A map that knows its least recently used entry. Addresses of entries stay.
template <class Key, class Value, class Hash>
class LeastRecent {
  public:
    using Entry = std::pair<const Key, Value>;

    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    /// Finds an entry and makes it the most recent one; nullptr if there is none.
    Entry* find(const Key& key) {
        const auto found = places_.find(key);
        if (found == places_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, *found);
        return &entries_.front();
    }

    /// Adds an entry for a key that has none, as the most recent one.
    Entry& add(Key key, Value value) {
        entries_.emplace_front(std::move(key), std::move(value));
        try {
            places_.insert(entries_.begin());
        } catch (...) {
            entries_.pop_front();
            throw;
        }
        return entries_.front();
    }

    [[nodiscard]] const Entry& oldest() const { return entries_.back(); }
    void forget_oldest() { forget(entries_.back().first); }
    void forget(const Key& key) {
        const auto found = places_.find(key);
        const auto entry = *found;  // the entry holds the key
        places_.erase(found);
        entries_.erase(entry);
    }

  private:
    using Place = typename std::list<Entry>::iterator;

    // Entries are found by their keys, which stand in the list alone.
    struct PlaceHash {
        using is_transparent = void;
        std::size_t operator()(const Place& place) const { return Hash()(place->first); }
        std::size_t operator()(const Key& key) const { return Hash()(key); }
    };
    struct SameKey {
        using is_transparent = void;
        bool operator()(const Place& a, const Place& b) const { return a->first == b->first; }
        bool operator()(const Place& a, const Key& b) const { return a->first == b; }
        bool operator()(const Key& a, const Place& b) const { return a == b->first; }
    };

    std::list<Entry> entries_;  // the most recent first
    std::unordered_set<Place, PlaceHash, SameKey> places_;
};

}  // namespace rondo::mpi
