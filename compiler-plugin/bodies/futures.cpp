// The functions of std::future's shared states that lie in the library; the plugin adds those that a
// module refers to, so that they get hooks.

#include <future>
#include <pthread.h>

namespace {

pthread_key_t key;
pthread_once_t key_is_made = PTHREAD_ONCE_INIT;

/// At the end of a thread: makes ready what it promised last, then what it promised before.
void keep_promises(void *last) {
  auto next = static_cast<std::__at_thread_exit_elt *>(last);
  while (auto promise = next) {
    next = promise->_M_next;
    promise->_M_cb(promise);
  }
}

void make_key() { pthread_key_create(&key, keep_promises); }

} // namespace

namespace std {

__future_base::_Result_base::_Result_base() = default;

void __future_base::_State_baseV2::_Make_ready::_S_run(void *promise) {
  auto kept = static_cast<_Make_ready *>(promise);
  if (auto state = kept->_M_shared_state.lock())
    state->_M_status._M_store_notify_all(_Status::__ready, memory_order_release);
  delete kept;
}

void __future_base::_State_baseV2::_Make_ready::_M_set() {
  pthread_once(&key_is_made, make_key);
  _M_cb = _S_run;
  _M_next = static_cast<__at_thread_exit_elt *>(pthread_getspecific(key));
  pthread_setspecific(key, this);
}

} // namespace std
