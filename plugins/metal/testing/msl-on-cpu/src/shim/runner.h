// Calls of kernels with arguments from files. Included after the kernels; runner.cpp runs them.
#undef device
#undef constant
#undef thread
#undef threadgroup
#undef kernel
namespace runner {
template <int... I> struct Numbers {};
template <int N, int... I> struct NumbersTo : NumbersTo<N - 1, N - 1, I...> {};
template <int... I> struct NumbersTo<0, I...> {
  typedef Numbers<I...> type;
};
template <class A> struct argument;
template <class T> struct argument<T*> {
  static T* of(void* p) { return static_cast<T*>(p); }
};
template <class T> struct argument<const T&> {
  static const T& of(void* p) { return *static_cast<const T*>(p); }
};
template <> struct argument<metal::uint3> {
  static metal::uint3 of(void* p) { return *static_cast<metal::uint3*>(p); }
};
template <class... A, int... I>
void call(void (*f)(A...), void** args, Numbers<I...>) {
  f(argument<A>::of(args[I])...);
}
template <class... A> void call(void (*f)(A...), void** args) {
  call(f, args, typename NumbersTo<sizeof...(A)>::type());
}

typedef void (*Caller)(void**);
struct Kernel {
  const char* name;
  bool has_dynamic;
  Caller caller;
};

int main_of(const Kernel* kernels, int count, int argc, char** argv);
}  // namespace runner
